/** Maximum length of a tracked link; longer ones are not tracked, and the log keeps no longer ones. */
export const MAX_TRACKED_URL_CHARS = 2048
/** Maximum length as written in HTML, where each character may be a reference. */
export const MAX_WRITTEN_CHARS = 4 * MAX_TRACKED_URL_CHARS

/** An absolute URL without characters that could end a header. */
const PLAIN = /^https?:\/\/[!-~]+$/iu
/** Browsers skip leading controls and spaces; their other repairs are left to them. */
const ABSOLUTE = /^[\0-\u0020]*https?:\/\//iu

/**
 * Returns the target of a link: unchanged where it fits a header, else as a browser would write it; undefined for a
 * link that is not tracked: another scheme, a relative or in-page address, an unfilled placeholder of a template, a
 * password.
 */
export const targetOf = (href: string): string | undefined => {
  if (!ABSOLUTE.test(href) || href.includes("{{")) return undefined
  const parsed = URL.parse(href)
  if (parsed === null || !/^https?:$/u.test(parsed.protocol)) return undefined
  if (parsed.username !== "" || parsed.password !== "") return undefined
  const url = PLAIN.test(href) ? href : parsed.href
  return isTarget(url) ? url : undefined
}

/** Checked again when a visit arrives, since a header is written with the target. */
export const isTarget = (url: string): boolean => url.length <= MAX_TRACKED_URL_CHARS && PLAIN.test(url)
