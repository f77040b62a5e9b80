/** `tag=value; tag=value`, the grammar of DKIM keys (RFC 6376 §3.2), DMARC and MTA-STS records. */
export type TagList = ReadonlyMap<string, string>

/** Returns undefined for text that is not a tag list: a part without `=`, or a tag given twice, which §3.2 forbids. */
export const parse = (text: string): TagList | undefined => {
  const tags = new Map<string, string>()
  for (const part of text.split(";")) {
    if (part.trim() === "") continue
    const equals = part.indexOf("=")
    if (equals < 0) return undefined
    const tag = part.slice(0, equals).trim()
    if (!/^[A-Za-z]\w*$/u.test(tag) || tags.has(tag)) return undefined
    tags.set(tag, part.slice(equals + 1).trim())
  }
  return tags
}
