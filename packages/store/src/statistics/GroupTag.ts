/** The version of a template that a message was made of. */
export interface Counted {
  readonly id: string
  readonly version: number
}

/**
 * Mail of a template is counted under one tag more, which names its version. A control character, which no tag of a customer
 * has, sets it apart from those, and sorts before them.
 */
const MARK = "\u0001"
const AFTER_MARK = "\u0002"

export const of = ({ id, version }: Counted): string => `${MARK}${id}${MARK}${version}`

export const parse = (tag: string): Counted | undefined => {
  const [first, id = "", version = ""] = tag.split(MARK)
  return first === "" && id !== "" ? { id, version: Number(version) } : undefined
}

/** Bounds between which tags are; both are exclusive. */
export interface Range {
  readonly after: string
  readonly before: string
}

/** The tags of all templates, or of the versions of one. */
export const range = (id?: string): Range =>
  id === undefined
    ? { after: MARK, before: AFTER_MARK }
    : { after: `${MARK}${id}${MARK}`, before: `${MARK}${id}${AFTER_MARK}` }

/** The tags of customers. */
export const OTHERS: Range = { after: AFTER_MARK, before: "\u{10ffff}" }
