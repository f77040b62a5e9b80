/** The version of a template that a message was made of. */
export interface Counted {
  readonly id: string
  readonly version: number
}

/** Groups that mail is counted by beside the tags of customers. */
export type Group = "template" | "api_key" | "provider"

/**
 * Mail is counted under tags of our own too, which name its template, its key and the providers of its recipients. A control
 * character, which no tag of a customer has, sets them apart from those, and sorts before them.
 */
const MARK = "\u0001"
const AFTER_MARK = "\u0002"
const PREFIXES = { template: "tpl_", api_key: "key_", provider: "at_" } as const
/** The character after the last one of the prefixes. */
const AFTER_PREFIX = "`"

export const ofTemplate = ({ id, version }: Counted): string => `${MARK}${id}${MARK}${version}`
export const ofKey = (id: string): string => `${MARK}${id}`
export const ofProvider = (provider: string): string => `${MARK}${PREFIXES.provider}${provider}`

export interface Groups {
  readonly template: string | null
  readonly template_version: number | null
  readonly api_key_id: string | null
  readonly provider: string | null
}

export const NONE: Groups = { template: null, template_version: null, api_key_id: null, provider: null }

/** Returns what one of our own tags names; undefined for a tag of a customer. */
export const parse = (tag: string): Groups | undefined => {
  const [first, name = "", version = ""] = tag.split(MARK)
  if (first !== "" || name === "") return undefined
  if (name.startsWith(PREFIXES.template)) return { ...NONE, template: name, template_version: Number(version) }
  if (name.startsWith(PREFIXES.api_key)) return { ...NONE, api_key_id: name }
  return { ...NONE, provider: name.slice(PREFIXES.provider.length) }
}

/** Bounds between which tags are; both are exclusive. */
export interface Range {
  readonly after: string
  readonly before: string
}

/** The tags of all templates, keys or providers. */
export const range = (group: Group): Range => {
  const prefix = PREFIXES[group]
  return { after: `${MARK}${prefix}`, before: `${MARK}${prefix.slice(0, -1)}${AFTER_PREFIX}` }
}

/** The tags of the versions of a template. */
export const versions = (id: string): Range => ({ after: `${MARK}${id}${MARK}`, before: `${MARK}${id}${AFTER_MARK}` })

/** The tags of customers. */
export const OTHERS: Range = { after: AFTER_MARK, before: "\u{10ffff}" }
