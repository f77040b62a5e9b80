/** Of a link that is tracked; longer ones stay as they are, and the log keeps no more of one. */
export const MAX_TRACKED_URL_CHARS = 2048
/** As it is written in HTML, where each character may be a reference. */
export const MAX_WRITTEN_CHARS = 4 * MAX_TRACKED_URL_CHARS

/** Absolute, and nothing in it that could end a header. */
const PLAIN = /^https?:\/\/[!-~]+$/iu
/** Browsers skip what stands before; what they would mend in other ways is left to them. */
const ABSOLUTE = /^[\0-\u0020]*https?:\/\//iu

/**
 * Where a link leads, to the letter where it can stand in a header so, and else as a browser would write it; undefined
 * for one that is not tracked: another scheme, a place within the mail or beside it, a gap of a template that nobody
 * filled, a password.
 */
export const targetOf = (href: string): string | undefined => {
  if (!ABSOLUTE.test(href) || href.includes("{{")) return undefined
  const parsed = URL.parse(href)
  if (parsed === null || !/^https?:$/u.test(parsed.protocol)) return undefined
  if (parsed.username !== "" || parsed.password !== "") return undefined
  const url = PLAIN.test(href) ? href : parsed.href
  return isTarget(url) ? url : undefined
}

/** Asked once more of what comes back: a header is written with it. */
export const isTarget = (url: string): boolean => url.length <= MAX_TRACKED_URL_CHARS && PLAIN.test(url)
