import { instance } from "../api/instance.ts"
import type { Example } from "../ui/controls/Code.tsx"

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** How a language writes values. */
interface Notation {
  readonly null: string
  readonly true: string
  readonly false: string
  readonly list: readonly [string, string]
  readonly object: readonly [string, string]
  readonly pair: (name: string, value: string) => string
}

const quoted = (text: string): string => JSON.stringify(text)
/** A dollar or a hash begins a variable in texts of PHP and Ruby. */
const literal = (text: string): string => quoted(text).replaceAll(/[$#]/gu, "\\$&")

const PYTHON: Notation = {
  null: "None",
  true: "True",
  false: "False",
  list: ["[", "]"],
  object: ["{", "}"],
  pair: (name, value) => `${quoted(name)}: ${value}`,
}
const TYPESCRIPT: Notation = {
  null: "null",
  true: "true",
  false: "false",
  list: ["[", "]"],
  object: ["{", "}"],
  pair: (name, value) => `${/^[A-Za-z_]\w*$/u.test(name) ? name : quoted(name)}: ${value}`,
}
const PHP: Notation = { ...TYPESCRIPT, object: ["[", "]"], pair: (name, value) => `${literal(name)} => ${value}` }
const RUBY: Notation = {
  ...TYPESCRIPT,
  null: "nil",
  pair: (name, value) => `${/^[a-z_]\w*$/u.test(name) ? name : literal(name)}: ${value}`,
}

const write = (value: Json, notation: Notation, text: (text: string) => string, indent = ""): string => {
  if (value === null) return notation.null
  if (typeof value === "string") return text(value)
  if (typeof value === "boolean") return value ? notation.true : notation.false
  if (typeof value === "number") return String(value)
  const deeper = `${indent}  `
  const [open, close] = Array.isArray(value) ? notation.list : notation.object
  const items = Array.isArray(value)
    ? value.map((each: Json) => write(each, notation, text, deeper))
    : Object.entries(value).map(([name, each]) => notation.pair(name, write(each, notation, text, deeper)))
  const line = `${open}${open === "{" ? " " : ""}${items.join(", ")}${open === "{" ? " " : ""}${close}`
  if (items.length === 0) return `${open}${close}`
  if (indent !== "" && line.length < 60 && !line.includes("\n")) return line
  return `${open}\n${items.map((item) => `${deeper}${item},`).join("\n")}\n${indent}${close}`
}

interface Sample {
  /** Alias or id. */
  readonly name: string
  /** Undefined if the template has its own. */
  readonly from: string | undefined
  readonly variables: { readonly [name: string]: Json }
}

/** Returns code that sends a template, with values that fit its schema. */
export const samplesOf = ({ from, name, variables }: Sample): ReadonlyArray<Example> => {
  const choice = { [name.startsWith("tpl_") ? "id" : "alias"]: name, variables }
  const message: Json = { ...(from === undefined ? {} : { from }), to: "ana@example.org", template: choice }
  const base = instance.url
  return [
    {
      name: "curl",
      code: [
        `curl ${base}/v1/email/send \\`,
        `  -H "Authorization: Bearer $WAYBILL_KEY" \\`,
        `  -H "Content-Type: application/json" \\`,
        `  -d '${JSON.stringify(message, null, 2).replaceAll("'", "'\\''")}'`,
      ].join("\n"),
    },
    {
      name: "TypeScript",
      code: [
        `import { Waybill } from "@waybill/client"`,
        ``,
        `const waybill = new Waybill(process.env.WAYBILL_KEY, { baseUrl: "${base}" })`,
        `await waybill.emails.send(${write(message, TYPESCRIPT, quoted)})`,
      ].join("\n"),
    },
    {
      name: "Python",
      code: [
        `from waybill import Waybill`,
        ``,
        `waybill = Waybill(base_url="${base}")  # WAYBILL_KEY`,
        `waybill.emails.send(${write(message, PYTHON, quoted)})`,
      ].join("\n"),
    },
    {
      name: "PHP",
      code: [
        `$waybill = new Waybill\\Client(baseUrl: "${base}"); // WAYBILL_KEY`,
        `$waybill->emails->send(${write(message, PHP, literal)});`,
      ].join("\n"),
    },
    {
      name: "Ruby",
      code: [
        `require "waybill"`,
        ``,
        `waybill = Waybill::Client.new(base_url: "${base}") # WAYBILL_KEY`,
        `waybill.emails.send(${write(message, RUBY, literal)})`,
      ].join("\n"),
    },
  ]
}
