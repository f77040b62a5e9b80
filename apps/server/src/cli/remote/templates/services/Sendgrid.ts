import * as Service from "./ServiceTemplate.ts"

export const API = { url: "https://api.sendgrid.com", key: "SENDGRID_API_KEY" }
const PAGE = 200

/** Reads all dynamic templates of an account of SendGrid. */
export const read = async (url: string, key: string): Promise<ReadonlyArray<Service.Json>> => {
  const api: Service.ServiceApi = { url, headers: { authorization: `Bearer ${key}` } }
  const templates: Array<Service.Json> = []
  let token: string | null = ""
  while (token !== null && templates.length < Service.MAX_IMPORTED) {
    const next: string = token === "" ? "" : `&page_token=${encodeURIComponent(token)}`
    const page = await Service.get(api, `/v3/templates?generations=dynamic&page_size=${PAGE}${next}`)
    for (const { id } of Service.listOf(page["result"] ?? page["templates"]))
      templates.push(await Service.get(api, `/v3/templates/${encodeURIComponent(String(id))}`))
    token = tokenOf(page["_metadata"])
  }
  return templates
}

/** The next page stands in an address. */
const tokenOf = (metadata: unknown): string | null => {
  const next = Service.isObject(metadata) ? Service.textOf(metadata["next"]) : null
  return next === null ? null : (URL.parse(next)?.searchParams.get("page_token") ?? null)
}

/** Takes the active version, or else the newest. */
export const templateOf = (json: Service.Json): Service.ServiceTemplate => {
  const versions = Service.listOf(json["versions"])
  const version = versions.find(({ active }) => active === 1 || active === true) ?? versions[0] ?? json
  return {
    ...Service.NOTHING_MORE,
    id: Service.textOf(json["id"]) ?? "",
    alias: null,
    name: Service.textOf(json["name"]) ?? Service.textOf(version["name"]) ?? "Template",
    kind: "template",
    subject: Service.textOf(version["subject"]),
    html: Service.textOf(version["html_content"]),
    text: Service.textOf(version["plain_content"]),
  }
}
