import { compile } from "html-to-text"

/**
 * Characters of HTML that are read. Gmail cuts a message off at 102 KB of it, and the converter takes 0.1 ms a kilobyte
 * of mail, but 4 ms a kilobyte of tags nested without an end.
 */
export const HTML_TEXT_LIMIT = 131_072
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
  html.length > HTML_TEXT_LIMIT ? `${convert(html.slice(0, HTML_TEXT_LIMIT))}\n\n…` : convert(html)
