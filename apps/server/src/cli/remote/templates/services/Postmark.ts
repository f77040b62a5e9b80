import {
  type ServiceApi,
  get,
  type Json,
  listOf,
  MAX_IMPORTED,
  type ServiceTemplate,
  textOf,
} from "./ServiceTemplate.ts"

export const API = { url: "https://api.postmarkapp.com", key: "POSTMARK_SERVER_TOKEN" }
const PAGE = 500

/** Reads all templates and layouts of a server of Postmark. */
export const read = async (url: string, key: string): Promise<ReadonlyArray<Json>> => {
  const api: ServiceApi = { url, headers: { "x-postmark-server-token": key } }
  const templates: Array<Json> = []
  let total = 1
  while (templates.length < Math.min(total, MAX_IMPORTED)) {
    const page = await get(api, `/templates?count=${PAGE}&offset=${templates.length}&templateType=All`)
    const listed = listOf(page["Templates"])
    if (listed.length === 0) break
    total = Number(page["TotalCount"] ?? 0)
    for (const { TemplateId } of listed)
      templates.push(await get(api, `/templates/${encodeURIComponent(String(TemplateId))}`))
  }
  return templates
}

export const templateOf = (json: Json): ServiceTemplate => ({
  id: textOf(json["TemplateId"]) ?? "",
  alias: textOf(json["Alias"]),
  name: textOf(json["Name"]) ?? "Template",
  kind: json["TemplateType"] === "Layout" ? "layout" : "template",
  subject: textOf(json["Subject"]),
  html: textOf(json["HtmlBody"]),
  text: textOf(json["TextBody"]),
  from: null,
  reply_to: [],
  layout: textOf(json["LayoutTemplate"]),
  preheader: null,
  variables: null,
})
