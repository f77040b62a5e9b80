import * as Service from "./ServiceTemplate.ts"

export const API = { url: "https://api.postmarkapp.com", key: "POSTMARK_SERVER_TOKEN" }
const PAGE = 500

/** Reads all templates and layouts of a server of Postmark. */
export const read = async (url: string, key: string): Promise<ReadonlyArray<Service.Json>> => {
  const api: Service.ServiceApi = { url, headers: { "x-postmark-server-token": key } }
  const templates: Array<Service.Json> = []
  let total = 1
  while (templates.length < Math.min(total, Service.MAX_IMPORTED)) {
    const page = await Service.get(api, `/templates?count=${PAGE}&offset=${templates.length}&templateType=All`)
    const listed = Service.listOf(page["Templates"])
    if (listed.length === 0) break
    total = Number(page["TotalCount"] ?? 0)
    for (const { TemplateId } of listed)
      templates.push(await Service.get(api, `/templates/${encodeURIComponent(String(TemplateId))}`))
  }
  return templates
}

export const templateOf = (json: Service.Json): Service.ServiceTemplate => ({
  ...Service.NOTHING_MORE,
  id: Service.textOf(json["TemplateId"]) ?? "",
  alias: Service.textOf(json["Alias"]),
  name: Service.textOf(json["Name"]) ?? "Template",
  kind: json["TemplateType"] === "Layout" ? "layout" : "template",
  subject: Service.textOf(json["Subject"]),
  html: Service.textOf(json["HtmlBody"]),
  text: Service.textOf(json["TextBody"]),
  layout: Service.textOf(json["LayoutTemplate"]),
})
