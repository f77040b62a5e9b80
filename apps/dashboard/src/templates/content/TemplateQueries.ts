import { queryOptions } from "@tanstack/react-query"
import * as Api from "../../api/Api.ts"
import * as Queries from "../../api/Queries.ts"
import type * as Records from "../../api/Records.ts"
import * as Form from "./Form.ts"

/** Key of all reads of templates. */
export const ALL = ["templates"]
/** Layouts that a choice lists; an account has at most 1,000 templates of all kinds. */
const MAX_CHOICES = 100
/** Time until a change that somebody else made is told. */
const LOOK_EVERY_MS = 20_000

export interface TemplateFilters {
  readonly q?: string
  readonly status?: string
  readonly kind?: string
  readonly uses?: string
}

export const list = (filters: TemplateFilters) =>
  Queries.listOf<Records.Page<Records.ListedTemplate>>([...ALL, "list", filters], "/templates", { ...filters })

/** Layouts that are there to choose. */
export const layouts = queryOptions({
  queryKey: [...ALL, "layouts"],
  queryFn: ({ signal }) =>
    Api.get<Records.Page<Records.ListedTemplate>>(
      "/templates",
      { kind: "layout", status: "published", limit: MAX_CHOICES },
      signal,
    ),
})

export const read = (id: string) => Api.get<Records.TemplateRecord>(`/templates/${id}`)

export const template = (id: string) =>
  queryOptions({ queryKey: [...ALL, id], queryFn: () => read(id), refetchInterval: LOOK_EVERY_MS })

export const versions = (id: string) =>
  Queries.read<Records.Page<Records.ListedTemplateVersion>>([...ALL, id, "versions"], `/templates/${id}/versions`)

/** A version never changes. */
export const version = (id: string, number: number) =>
  Queries.readOnce<Records.TemplateVersion>([...ALL, id, "versions", number], `/templates/${id}/versions/${number}`)

const DAY_MS = 86_400_000
const COUNTED_DAYS = 30

/** Counts of the mail of each version in the last days. */
export const counts = (id: string) =>
  queryOptions({
    queryKey: [...ALL, id, "counts"],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - COUNTED_DAYS * DAY_MS).toISOString()
      return Api.get<Records.Stats>("/stats", { group_by: "template", template: id, from }, signal)
    },
  })

export const validate = (source: object) => Api.post<Records.TemplateValidation>("/templates/validate", source)

/** Answer of the service about a source that is stored. */
export const checked = (source: Records.TemplateRecord["draft"]) =>
  queryOptions({
    queryKey: [...ALL, "checked", source],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => validate(Form.toSource(Form.ofSource(source))),
  })

export const render = (
  id: string,
  rendering: {
    readonly draft?: object
    readonly version?: number | null
    readonly variables?: object
    readonly locale: string | null
  },
) => Api.post<Records.RenderedTemplate>(`/templates/${id}/render`, rendering)
