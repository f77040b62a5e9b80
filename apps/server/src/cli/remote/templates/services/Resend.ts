import * as Service from "./ServiceTemplate.ts"

export const API = { url: "https://api.resend.com", key: "RESEND_API_KEY" }
const PAGE = 100

/** Reads all templates of an account of Resend. */
export const read = async (url: string, key: string): Promise<ReadonlyArray<Service.Json>> => {
  const api: Service.ServiceApi = { url, headers: { authorization: `Bearer ${key}` } }
  const templates: Array<Service.Json> = []
  let after = ""
  for (let more = true; more && templates.length < Service.MAX_IMPORTED;) {
    const page = await Service.get(
      api,
      `/templates?limit=${PAGE}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`,
    )
    const listed = Service.listOf(page["data"])
    for (const { id } of listed) templates.push(await Service.get(api, `/templates/${encodeURIComponent(String(id))}`))
    after = Service.textOf(listed.at(-1)?.["id"]) ?? ""
    more = page["has_more"] === true && after !== ""
  }
  return templates
}

export const templateOf = (json: Service.Json): Service.ServiceTemplate => {
  const replies = json["reply_to"]
  return {
    ...Service.NOTHING_MORE,
    id: Service.textOf(json["id"]) ?? "",
    alias: Service.textOf(json["alias"]),
    name: Service.textOf(json["name"]) ?? "Template",
    kind: "template",
    subject: Service.textOf(json["subject"]),
    html: Service.textOf(json["html"]),
    text: Service.textOf(json["text"]),
    from: Service.textOf(json["from"]),
    reply_to: [replies].flat().flatMap((each) => Service.textOf(each) ?? []),
    variables: schemaOf(Service.listOf(json["variables"])),
  }
}

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "boolean", "object"])

/** A variable without a fallback is required. */
const schemaOf = (variables: ReadonlyArray<Service.Json>): Service.Json | null => {
  const named = variables.flatMap((variable) => {
    const name = Service.textOf(variable["key"])
    return name === null ? [] : [{ ...variable, name, fallback: variable["fallback_value"] ?? null }]
  })
  if (named.length === 0) return null
  return {
    type: "object",
    required: named.filter(({ fallback }) => fallback === null).map(({ name }) => name),
    properties: Object.fromEntries(
      named.map((variable) => {
        const type: unknown = (variable as Service.Json)["type"]
        const { fallback, name } = variable
        return [name, { ...(TYPES.has(type) ? { type } : {}), ...(fallback === null ? {} : { default: fallback }) }]
      }),
    ),
  }
}
