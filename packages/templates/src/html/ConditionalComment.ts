/** A comment whose content Outlook reads as HTML, as in `<!--[if mso]>…<![endif]-->`; others read no HTML in it. */
export interface ConditionalComment {
  /** Offset of the HTML in it. */
  readonly begin: number
  /** Offset of what ends it. */
  readonly end: number
}

const BEGIN = /<!--\[if\s[^\]<>]{1,100}\]>/iuy
export const END = "<![endif]-->"

/** Returns the conditional comment that begins at an offset. One that a browser would end elsewhere is an ordinary comment. */
export const at = (source: string, offset: number): ConditionalComment | undefined => {
  BEGIN.lastIndex = offset
  const begin = offset + (BEGIN.exec(source)?.[0].length ?? 0)
  if (begin === offset) return undefined
  const close = source.indexOf("-->", begin)
  const end = close + "-->".length - END.length
  const isEnded = end >= begin && source.slice(end, end + END.length).toLowerCase() === END
  return isEnded && !source.slice(begin, end).includes("--!>") ? { begin, end } : undefined
}
