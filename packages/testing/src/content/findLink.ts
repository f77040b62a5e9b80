import * as Html from "./Html.ts"

/** The parts of a message that are read. */
export interface Readable {
  readonly subject: string
  readonly html: string | null
  readonly text: string | null
}

const URLS = /https?:\/\/[^\s<>"']+/gu
/** Characters that end a sentence rather than an address. */
const AFTER_URL = /[.,;:!?)\]}]+$/u

/** Returns the addresses of a text; each has the words before it, back to the one before. */
const linksOfText = (text: string): ReadonlyArray<Html.Link> => {
  let at = 0
  return [...text.matchAll(URLS)].map(({ 0: url, index }) => {
    const before = text.slice(at, index)
    at = index + url.length
    return { url: url.replace(AFTER_URL, ""), text: before.replace(/\s+/gu, " ").trim() }
  })
}

/**
 * Returns the address that stands in the link with a text, tracked or not; without a text, of the only link. Mail without HTML
 * has no texts of links: the words before an address count.
 */
export const findLink = (message: Readable, text?: string | RegExp): string => {
  const links = message.html === null ? linksOfText(message.text ?? "") : Html.read(message.html).links
  const found = links.filter((link) =>
    text === undefined ? true : typeof text === "string" ? link.text.includes(text) : link.text.search(text) !== -1,
  )
  const exact = found.filter((link) => link.text === text)
  const urls = new Set((exact.length > 0 ? exact : found).map(({ url }) => url))
  const [url] = urls
  if (url !== undefined && urls.size === 1) return url
  const named = text === undefined ? "" : ` with the text ${typeof text === "string" ? `"${text}"` : text}`
  const list = links.map((link) => `  "${link.text}" ${link.url}`).join("\n")
  throw new Error(
    `"${message.subject}" has ${urls.size === 0 ? "no link" : `${urls.size} links`}${named}.` +
      (links.length === 0 ? " It has no link at all." : ` Its links:\n${list}`),
  )
}
