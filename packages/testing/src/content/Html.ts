/** Longest HTML that is read; the rest is left out. */
const MAX_HTML_CHARS = 2_000_000

export interface Link {
  readonly text: string
  readonly url: string
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  zwnj: "",
  zwj: "",
  shy: "",
}
const MAX_CODE_POINT = 0x10_ff_ff

const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/giu, (whole, decimal?: string, hex?: string, name = "") => {
    if (decimal === undefined && hex === undefined) return NAMED[(name as string).toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal)
    return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : whole
  })

const collapse = (text: string): string => text.replace(/\s+/gu, " ").trim()

/** Removes comments, styles and scripts, whose text nobody sees. Each is looked for once, from its start. */
const visible = (html: string): string => {
  let rest = html.slice(0, MAX_HTML_CHARS)
  for (const [opening, closing] of [
    [/<!--/gu, "-->"],
    [/<(?=style[\s>])/giu, "</style"],
    [/<(?=script[\s>])/giu, "</script"],
  ] as const) {
    const lower = rest.toLowerCase()
    let seen = ""
    let at = 0
    for (const { index } of lower.matchAll(opening)) {
      if (index < at) continue
      seen += rest.slice(at, index)
      const end = lower.indexOf(closing, index)
      at = end === -1 ? rest.length : end + closing.length
      if (closing !== "-->") at = Math.max(at, lower.indexOf(">", at) + 1)
    }
    rest = seen + rest.slice(at)
  }
  return rest
}

/** A tag; quoted values may contain its end. Its alternatives exclude each other, so that no input is read twice. */
const TAG = /<(\/?)([a-z][^\s/>]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>/giu
const BLOCKS = /^(?:p|div|br|tr|td|th|li|h[1-6]|table|ul|ol)$/iu

const attribute = (attributes: string, name: string): string | undefined => {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "iu").exec(attributes)
  const value = found?.[1] ?? found?.[2] ?? found?.[3]
  return value === undefined ? undefined : decode(value)
}

interface Read {
  readonly text: string
  readonly links: ReadonlyArray<Link>
}

/** Reads the text and the links of HTML, as a person sees them; an image is its alternative text. */
export const read = (html: string): Read => {
  const source = visible(html)
  const links: Array<Link> = []
  let [text, at] = ["", 0]
  let open: { readonly url: string; readonly from: number } | undefined
  const close = () => {
    if (open !== undefined) links.push({ url: open.url, text: collapse(text.slice(open.from)) })
    open = undefined
  }
  for (const { 0: tag, 1: slash, 2: name = "", 3: attributes = "", index } of source.matchAll(TAG)) {
    text += decode(source.slice(at, index))
    at = index + tag.length
    if (BLOCKS.test(name)) text += "\n"
    if (/^img$/iu.test(name)) text += attribute(attributes, "alt") ?? ""
    if (!/^a$/iu.test(name)) continue
    close()
    const url = slash === "" ? attribute(attributes, "href") : undefined
    if (url !== undefined) open = { url: url.trim(), from: text.length }
  }
  text += decode(source.slice(at))
  close()
  return { text: text.replace(/[^\S\n]+/gu, " "), links }
}
