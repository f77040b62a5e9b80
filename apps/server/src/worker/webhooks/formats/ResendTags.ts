/** A tag as Resend has it. */
export interface TagPair {
  readonly name: string
  readonly value: string
}

/** Joins the name and the value of one of Resend's tags to one of ours. Resend allows no colon in a name. */
export const tagOf = ({ name, value }: TagPair): string => `${name}:${value}`

export const pairOf = (tag: string): TagPair => {
  const colon = tag.indexOf(":")
  return colon < 0 ? { name: tag, value: "" } : { name: tag.slice(0, colon), value: tag.slice(colon + 1) }
}
