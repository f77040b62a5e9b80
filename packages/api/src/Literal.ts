/** How a language writes the values of JSON. */
export interface Literals {
  readonly object: readonly [open: string, close: string]
  readonly list: readonly [open: string, close: string]
  readonly pair: (name: string) => string
  readonly text: (text: string) => string
  readonly words: Readonly<Record<"true" | "false" | "null", string>>
  readonly indent: string
  /** Between braces and what they hold in one line. */
  readonly gap: string
  /** Whether the last of several lines ends with a comma. */
  readonly trailing: boolean
}

const WORDS = { true: "true", false: "false", null: "null" }
const isName = (name: string): boolean => /^[A-Za-z_]\w*$/u.test(name)

export const JSON_TEXT: Literals = {
  object: ["{", "}"],
  list: ["[", "]"],
  pair: (name) => `${JSON.stringify(name)}: `,
  text: (text) => JSON.stringify(text),
  words: WORDS,
  indent: "  ",
  gap: " ",
  trailing: false,
}
export const TYPESCRIPT: Literals = {
  ...JSON_TEXT,
  pair: (name) => (isName(name) ? `${name}: ` : `${JSON.stringify(name)}: `),
  trailing: true,
}
export const PYTHON: Literals = {
  ...JSON_TEXT,
  words: { true: "True", false: "False", null: "None" },
  indent: "    ",
  gap: "",
  trailing: true,
}
export const GO: Literals = {
  ...JSON_TEXT,
  object: ["map[string]any{", "}"],
  list: ["[]any{", "}"],
  words: { ...WORDS, null: "nil" },
  indent: "\t",
  gap: "",
  trailing: true,
}
const phpText = (text: string): string => `'${text.replaceAll(/['\\]/gu, "\\$&")}'`
export const PHP: Literals = {
  ...JSON_TEXT,
  object: ["[", "]"],
  pair: (name) => `${phpText(name)} => `,
  text: phpText,
  indent: "    ",
  gap: "",
  trailing: true,
}
const rubyText = (text: string): string => JSON.stringify(text).replaceAll("#", "\\#")
export const RUBY: Literals = {
  ...JSON_TEXT,
  pair: (name) => (isName(name) ? `${name}: ` : `${rubyText(name)} => `),
  text: rubyText,
  words: { ...WORDS, null: "nil" },
}

const LINE_CHARS = 64

/** Returns a value in a language, in one line if it is short. */
export const write = (language: Literals, value: unknown, before = ""): string => {
  if (typeof value === "string") return language.text(value)
  if (typeof value === "number") return String(value)
  if (typeof value !== "object" || value === null) return language.words[String(value) as "true" | "false" | "null"]
  const inside = `${before}${language.indent}`
  const parts = (inside: string) =>
    Array.isArray(value)
      ? value.map((each) => write(language, each, inside))
      : Object.entries(value).map(([name, each]) => `${language.pair(name)}${write(language, each, inside)}`)
  const [open, close] = Array.isArray(value) ? language.list : language.object
  const line = parts(before)
  if (line.length === 0) return `${open}${close}`
  const gap = Array.isArray(value) ? "" : language.gap
  const short = `${open}${gap}${line.join(", ")}${gap}${close}`
  if (short.length + before.length <= LINE_CHARS && !short.includes("\n")) return short
  const lines = parts(inside).map((part) => `${inside}${part}`)
  return `${open}\n${lines.join(",\n")}${language.trailing ? "," : ""}\n${before}${close}`
}
