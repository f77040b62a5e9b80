import { compile } from "html-to-text"

/** Characters of HTML that are read; a text part is a courtesy, and one of this length is already a book. */
export const HTML_TEXT_LIMIT = 262_144
/** Below this depth the tree is not walked: the walk is recursive, mail nests tables some thirty deep. */
export const HTML_DEPTH_LIMIT = 200
/** Under the 78 of RFC 5322, so the derived text usually needs no encoding. */
const WRAP_AT = 76

const convert = compile({
  wordwrap: WRAP_AT,
  limits: { maxDepth: HTML_DEPTH_LIMIT, ellipsis: "…" },
  selectors: [
    { selector: "img", format: "skip" },
    { selector: "a", options: { hideLinkHrefIfSameAsText: true, ignoreHref: false, noAnchorUrl: true } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
})

/** The text part of a message that came with HTML alone. */
export const textFromHtml = (html: string): string =>
  convert(html.length > HTML_TEXT_LIMIT ? html.slice(0, HTML_TEXT_LIMIT) : html)
