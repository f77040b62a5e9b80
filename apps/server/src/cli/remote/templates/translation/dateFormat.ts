import * as Table from "@waybill/domain/collections/Table"

/** Words of a format of SendGrid's `formatDate`, and of Liquid's `date`. */
const WORDS: Readonly<Record<string, string>> = {
  YYYY: "%Y",
  YY: "%y",
  MMMM: "%B",
  MMM: "%b",
  MM: "%m",
  M: "%-m",
  DD: "%d",
  D: "%-d",
  dddd: "%A",
  ddd: "%a",
  HH: "%H",
  H: "%-H",
  hh: "%I",
  h: "%-I",
  mm: "%M",
  m: "%-M",
  ss: "%S",
  s: "%-S",
  A: "%p",
  a: "%P",
  ZZ: "%z",
}

/** Returns a date's format in Liquid; undefined if one of its letters has no counterpart. */
export const dateFormat = (format: string): string | undefined => {
  const pieces = format.match(/([A-Za-z])\1*|[^A-Za-z]+/gu) ?? []
  const words = pieces.map((piece) => (/^[A-Za-z]/u.test(piece) ? Table.at(WORDS, piece) : piece.replaceAll("%", "%%")))
  return words.includes(undefined) ? undefined : words.join("")
}
