import {
  type ServiceApi,
  get,
  type Json,
  listOf,
  MAX_IMPORTED,
  type ServiceTemplate,
  textOf,
} from "./ServiceTemplate.ts"

export const API = { url: "https://api.resend.com", key: "RESEND_API_KEY" }
const PAGE = 100

/** Reads all templates of an account of Resend. */
export const read = async (url: string, key: string): Promise<ReadonlyArray<Json>> => {
  const api: ServiceApi = { url, headers: { authorization: `Bearer ${key}` } }
  const templates: Array<Json> = []
  let after = ""
  for (let more = true; more && templates.length < MAX_IMPORTED;) {
    const page = await get(api, `/templates?limit=${PAGE}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`)
    const listed = listOf(page["data"])
    for (const { id } of listed) templates.push(await get(api, `/templates/${encodeURIComponent(String(id))}`))
    after = textOf(listed.at(-1)?.["id"]) ?? ""
    more = page["has_more"] === true && after !== ""
  }
  return templates
}

export const templateOf = (json: Json): ServiceTemplate => {
  const replies = json["reply_to"]
  return {
    id: textOf(json["id"]) ?? "",
    alias: textOf(json["alias"]),
    name: textOf(json["name"]) ?? "Template",
    kind: "template",
    subject: textOf(json["subject"]),
    html: textOf(json["html"]),
    text: textOf(json["text"]),
    from: textOf(json["from"]),
    reply_to: [replies].flat().flatMap((each) => textOf(each) ?? []),
    layout: null,
    preheader: null,
    variables: schemaOf(listOf(json["variables"])),
  }
}

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "boolean", "object"])

/** A variable without a fallback is required. */
const schemaOf = (variables: ReadonlyArray<Json>): Json | null => {
  const named = variables.flatMap((variable) => {
    const name = textOf(variable["key"])
    return name === null ? [] : [{ ...variable, name, fallback: variable["fallback_value"] ?? null }]
  })
  if (named.length === 0) return null
  return {
    type: "object",
    required: named.filter(({ fallback }) => fallback === null).map(({ name }) => name),
    properties: Object.fromEntries(
      named.map((variable) => {
        const type: unknown = (variable as Json)["type"]
        const { fallback, name } = variable
        return [name, { ...(TYPES.has(type) ? { type } : {}), ...(fallback === null ? {} : { default: fallback }) }]
      }),
    ),
  }
}
