import {
  type ServiceApi,
  get,
  isObject,
  type Json,
  listOf,
  MAX_IMPORTED,
  type ServiceTemplate,
  textOf,
} from "./ServiceTemplate.ts"

export const API = { url: "https://api.sendgrid.com", key: "SENDGRID_API_KEY" }
const PAGE = 200

/** Reads all dynamic templates of an account of SendGrid. */
export const read = async (url: string, key: string): Promise<ReadonlyArray<Json>> => {
  const api: ServiceApi = { url, headers: { authorization: `Bearer ${key}` } }
  const templates: Array<Json> = []
  let token: string | null = ""
  while (token !== null && templates.length < MAX_IMPORTED) {
    const next: string = token === "" ? "" : `&page_token=${encodeURIComponent(token)}`
    const page = await get(api, `/v3/templates?generations=dynamic&page_size=${PAGE}${next}`)
    for (const { id } of listOf(page["result"] ?? page["templates"]))
      templates.push(await get(api, `/v3/templates/${encodeURIComponent(String(id))}`))
    token = tokenOf(page["_metadata"])
  }
  return templates
}

/** The next page stands in an address. */
const tokenOf = (metadata: unknown): string | null => {
  const next = isObject(metadata) ? textOf(metadata["next"]) : null
  return next === null ? null : (URL.parse(next)?.searchParams.get("page_token") ?? null)
}

/** Takes the active version, or else the newest. */
export const templateOf = (json: Json): ServiceTemplate => {
  const versions = listOf(json["versions"])
  const version = versions.find(({ active }) => active === 1 || active === true) ?? versions[0] ?? json
  return {
    id: textOf(json["id"]) ?? "",
    alias: null,
    name: textOf(json["name"]) ?? textOf(version["name"]) ?? "Template",
    kind: "template",
    subject: textOf(version["subject"]),
    html: textOf(version["html_content"]),
    text: textOf(version["plain_content"]),
    from: null,
    reply_to: [],
    layout: null,
    preheader: null,
    variables: null,
  }
}
