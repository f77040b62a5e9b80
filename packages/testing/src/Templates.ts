import type { ApiRequests } from "./service/Api.ts"
import type { Readable } from "./content/findLink.ts"

/** The words of a template, as `POST /v1/templates` takes them. */
export interface TemplateWords {
  readonly subject?: string
  readonly html?: string
  readonly text?: string
  readonly preheader?: string
  readonly from?: string
  readonly layout?: string
  /** `layout` or `partial`, for what other templates use. */
  readonly kind?: "template" | "layout" | "partial"
  readonly language?: "liquid" | "handlebars" | "mustachio" | "resend"
  readonly locales?: Readonly<
    Record<string, { readonly subject?: string; readonly html?: string; readonly text?: string }>
  >
  /** JSON Schema of the variables. */
  readonly variables?: object
}

export interface RenderOptions {
  readonly locale?: string
  readonly time_zone?: string
  /** A published version; the draft by default. */
  readonly version?: number
}

/** The words that would be sent, and warnings of what a reader would miss. */
export interface RenderedTemplate extends Readable {
  readonly subject: string
  readonly warnings: ReadonlyArray<{ readonly path: string; readonly message: string }>
}

interface Named {
  readonly id: string
}

/** Renders a template of the account by its id or alias, or words that are not kept. */
export const render = async (
  api: ApiRequests,
  template: string | TemplateWords,
  variables: object,
  options: RenderOptions,
): Promise<RenderedTemplate> => {
  const body = { variables, ...options }
  if (typeof template === "string") return await rendered(api, template, body)
  const { id } = (await api.post("/v1/templates", { name: "rendered by a test", ...template })) as Named
  try {
    return await rendered(api, id, body)
  } finally {
    await api.remove(`/v1/templates/${id}`)
  }
}

const rendered = async (api: ApiRequests, name: string, body: object): Promise<RenderedTemplate> => {
  const answer = (await api.post(`/v1/templates/${encodeURIComponent(name)}/render`, body)) as {
    readonly [K in keyof RenderedTemplate]: RenderedTemplate[K] | null
  }
  return {
    subject: answer.subject ?? "",
    html: answer.html ?? null,
    text: answer.text ?? null,
    warnings: answer.warnings ?? [],
  }
}

/** Makes words what is sent by an alias, and returns the number of the version. */
export const publish = async (api: ApiRequests, alias: string, words: TemplateWords): Promise<number> => {
  const { kind, ...change } = words
  const list = (await api.get(`/v1/templates?q=${encodeURIComponent(alias)}`)) as {
    readonly data: ReadonlyArray<{ readonly alias: string | null }>
  }
  if (list.data.some((each) => each.alias === alias)) await api.patch(`/v1/templates/${alias}`, change)
  else await api.post("/v1/templates", { name: alias, alias, ...(kind === undefined ? {} : { kind }), ...change })
  const { number } = (await api.post(`/v1/templates/${alias}/publish`, {})) as { readonly number: number }
  return number
}
