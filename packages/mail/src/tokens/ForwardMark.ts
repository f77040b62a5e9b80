import * as Mac from "./Mac.ts"

/** Name of the header that says from which address a mail was forwarded, once for each time. */
export const HEADER = "X-Waybill-Forwarded"

const PURPOSE = "waybill forward 1\0"
/** Maximum marks of a mail that are read. One that was forwarded more often is in a circle. */
export const MAX_MARKS = 20
const FIELDS = new RegExp(
  `(?:^|\\r\\n)${HEADER}:[ \\t]*([${Mac.ALPHABET}]{${Mac.TAG_CHARACTERS}})[ \\t]*(?=\\r\\n)`,
  "giu",
)

/** Mark of an address. It does not name the address, and nobody else can make it, so that no stranger ends a forward. */
export const make = (secretKey: Uint8Array, address: string): string =>
  Mac.tag(secretKey, PURPOSE, address.toLowerCase())

/** Returns the marks in the header of a mail. */
export const readAll = (head: string): ReadonlyArray<string> => {
  const marks: Array<string> = []
  for (const [, mark = ""] of head.matchAll(FIELDS)) if (marks.push(mark.toLowerCase()) > MAX_MARKS) break
  return marks
}

/** Whether a mail with these marks was forwarded from the address before. */
export const has = (secretKeys: ReadonlyArray<Uint8Array>, address: string, marks: ReadonlyArray<string>): boolean =>
  marks.length > MAX_MARKS ||
  marks.some((mark) => secretKeys.some((key) => Mac.holds(key, PURPOSE, address.toLowerCase(), mark)))
