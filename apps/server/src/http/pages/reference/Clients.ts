import * as Literal from "@waybill/api/Literal"
import type { SampleCall } from "./SampleCall.ts"

/** Stands for the address of the service in the samples. */
export const ORIGIN = "https://waybill.example"

/** Languages of the samples: how each is named for people, and in a fence of Markdown. */
export const LANGUAGES = [
  ["curl", "sh"],
  ["TypeScript", "ts"],
  ["Python", "python"],
  ["Go", "go"],
  ["PHP", "php"],
  ["Ruby", "ruby"],
] as const
export type Language = (typeof LANGUAGES)[number][0]

/** Operations of the groups below that only the client for TypeScript has a method for; `request` calls them. */
const TYPESCRIPT_ONLY: ReadonlySet<string> = new Set(
  "domains.dmarc domains.tls domains.addEd25519 domains.removeEd25519 domains.rotateEd25519 events.stream".split(" "),
)
const GROUPS: ReadonlySet<string> = new Set(
  "emails logs domains suppressions events inbound threads templates".split(" "),
)
const hasMethod = ({ names: [group = "", ...rest] }: SampleCall): boolean =>
  GROUPS.has(group) && !TYPESCRIPT_ONLY.has([group, ...rest].join("."))

export const isStream = ({ names }: SampleCall): boolean => names.join(".") === "events.stream"

/** Returns the path with its values and its query. */
const target = ({ parts, path, query }: SampleCall): string => {
  const values = [...parts]
  const filled = path.replaceAll(/\{\w+\}/gu, () => encodeURIComponent(String(values.shift())).replaceAll("%40", "@"))
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()
  return search === "" ? filled : `${filled}?${search}`
}

/** Returns a request for curl. */
export const curl = (call: SampleCall, origin: string = ORIGIN): string => {
  const { body, hasKey, method } = call
  const url = `${origin}${target(call)}`
  const isBare = /^[\w:/.@-]+$/u.test(url)
  const verb = method === "GET" || (method === "POST" && body !== undefined) ? "" : `-X ${method} `
  const parts = [`curl ${isStream(call) ? "-N " : ""}${verb}${isBare ? url : `"${url}"`}`]
  if (hasKey) parts.push(`-H "Authorization: Bearer $WAYBILL_KEY"`)
  if (body !== undefined) {
    const json = Literal.write(Literal.JSON_TEXT, body).replaceAll("'", String.raw`'\''`)
    parts.push(`-H "Content-Type: application/json"`, `-d '${json}'`)
  }
  return parts.join(" \\\n  ")
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)

const written = (language: Literal.Literals, values: ReadonlyArray<unknown>): string =>
  values.map((value) => Literal.write(language, value)).join(", ")

/** Arguments of `request`, by which a client calls any endpoint: text, then the query and the body by name. */
const request = (language: Literal.Literals, call: SampleCall, parts: ReadonlyArray<string>, named: string): string => {
  const options = Object.entries({ query: call.query, body: call.body }).flatMap(([name, value]) =>
    value === undefined || (name === "query" && Object.keys(call.query).length === 0)
      ? []
      : [`${name}${named}${Literal.write(language, value)}`],
  )
  return [language.text(`${call.method} ${call.path}`), ...parts, ...options].join(", ")
}

const texts = (language: Literal.Literals, { parts }: SampleCall): ReadonlyArray<string> =>
  parts.map((part) => language.text(String(part)))

const go = (call: SampleCall): string => {
  const parts = call.parts.length === 0 ? [] : [`Parts: []string{${texts(Literal.GO, call).join(", ")}}`]
  const pairs = Object.entries(call.query).map(([name, value]) => `"${name}": {"${String(value)}"}`)
  const query = pairs.length === 0 ? [] : [`Query: url.Values{${pairs.join(", ")}}`]
  const body = call.body === undefined ? [] : [`Body: ${Literal.write(Literal.GO, call.body)}`]
  return `var answer map[string]any
err := client.Request(ctx, "${call.method} ${call.path}", waybill.Call{${[...parts, ...query, ...body].join(", ")}}, &answer)`
}

/** Returns the call of an endpoint by the client of each language, as one expression; in Go, as statements. */
export const CALLS: Readonly<Record<Exclude<Language, "curl">, (call: SampleCall) => string>> = {
  TypeScript: (call) => {
    const name = `waybill.${call.names.join(".")}(${written(Literal.TYPESCRIPT, [...call.parts, ...call.rest])})`
    return isStream(call) ? `${name}.next()` : name
  },
  Python: (call) =>
    hasMethod(call)
      ? `waybill.${call.names.map(snake).join(".")}(${written(Literal.PYTHON, [...call.parts, ...call.rest])})`
      : `waybill.request(${request(Literal.PYTHON, call, texts(Literal.PYTHON, call), "=")})`,
  Go: go,
  PHP: (call) => {
    if (hasMethod(call))
      return `$waybill->${call.names.join("->")}(${written(Literal.PHP, [...call.parts, ...call.rest])})`
    const parts = call.parts.length === 0 ? [] : [`[${texts(Literal.PHP, call).join(", ")}]`]
    return `$waybill->request(${request(Literal.PHP, call, parts, ": ")})`
  },
  Ruby: (call) =>
    hasMethod(call)
      ? `waybill.${call.names.map(snake).join(".")}(${written(Literal.RUBY, [...call.parts, ...call.rest])})`
      : `waybill.request(${request(Literal.RUBY, call, texts(Literal.RUBY, call), ": ")})`,
}

const PROGRAMS: Readonly<Record<Exclude<Language, "curl">, (call: string) => string>> = {
  TypeScript: (call) => `import { Waybill } from "@waybill/client"

const waybill = new Waybill()
console.log(await ${call})`,
  Python: (call) => `from waybill import Waybill

waybill = Waybill()
print(${call})`,
  Go: (call) => `client, err := waybill.New(waybill.Options{})
if err != nil {
	log.Fatal(err)
}
${call.replace("err := ", "err = ")}`,
  PHP: (call) => `use Waybill\\Client;

$waybill = new Client();
print_r(${call});`,
  Ruby: (call) => `require "waybill"

waybill = Waybill::Client.new
p ${call}`,
}

/** Returns samples of a call, those of clients with their begin; a client that cannot make the call has none. */
export const samplesOf = (call: SampleCall): ReadonlyArray<readonly [language: Language, code: string]> =>
  LANGUAGES.flatMap(([language]): ReadonlyArray<readonly [Language, string]> => {
    if (language === "curl") return [[language, curl(call)]]
    if (!call.hasKey || (isStream(call) && language !== "TypeScript")) return []
    return [[language, isStream(call) ? STREAM : PROGRAMS[language](CALLS[language](call))]]
  })

const STREAM = `import { Waybill } from "@waybill/client"

const waybill = new Waybill()
for await (const event of waybill.events.stream()) console.log(event)`
