import * as Labels from "@waybill/domain/email/Labels"

/** A tag as Resend has it. */
export interface TagPair {
  readonly name: string
  readonly value: string
}

/** Resend's names and values have this many characters: letters, digits, underscores and hyphens. */
export const MAX_CHARS = 256

/**
 * Ends the part of a long name that the name of our pair holds, before the place of the tag; the value then begins with the
 * rest of the name.
 */
const CUT = "…"
const CUT_NAME = /^(.*)…\d{1,2}$/su
const REST_END = "="
const KEPT_CHARS = Labels.MAX_METADATA_NAME_CHARS - `${CUT}99`.length

/** Returns the metadata that Resend's tags become, which has one value of each name. */
export const metadataOf = (tags: ReadonlyArray<TagPair>): Labels.Metadata =>
  Object.fromEntries(
    tags.map(({ name, value }, nth) =>
      name.length <= Labels.MAX_METADATA_NAME_CHARS
        ? [name, value]
        : [`${name.slice(0, KEPT_CHARS)}${CUT}${nth}`, name.slice(KEPT_CHARS) + REST_END + value],
    ),
  )

const pairOf = ([name, value]: readonly [name: string, value: string]): TagPair => {
  const begin = CUT_NAME.exec(name)?.[1]
  const end = begin === undefined ? -1 : value.indexOf(REST_END)
  return end < 0
    ? { name, value }
    : { name: `${begin}${value.slice(0, end)}`, value: value.slice(end + REST_END.length) }
}

/** A tag of ours may be a name and a value too. */
const pairIn = (tag: string): TagPair => {
  const colon = tag.indexOf(":")
  return colon < 0 ? { name: tag, value: "" } : { name: tag.slice(0, colon), value: tag.slice(colon + 1) }
}

/** Returns Resend's tags of a message, from its metadata and its tags. */
export const of = (tags: ReadonlyArray<string>, metadata: Labels.Metadata): ReadonlyArray<TagPair> => [
  ...Object.entries(metadata).map(pairOf),
  ...tags.map(pairIn),
]
