const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

export const escaped = (text: string): string => text.replaceAll(/[&<>"]/gu, (character) => ESCAPES[character] ?? "")

/** Returns the HTML of a description: text with code between backquotes. */
export const prose = (text: string): string =>
  escaped(text).replaceAll(/`([^`]+)`/gu, (_, code: string) => `<code>${code}</code>`)

/** Returns an id for the part of a link after `#`. */
export const anchor = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-")
