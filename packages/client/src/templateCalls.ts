import { paginate } from "./paginate.ts"
import type { Page, WriteOptions } from "./CallTypes.ts"
import type { Call, Sender } from "./Sender.ts"
import type * as T from "./types.ts"

const LARGEST_PAGE = 100

const path = (part: string): string => encodeURIComponent(part)

/** The calls about templates. */
export const templateCalls = (sender: () => Sender) => {
  const get = <A>(path: string, query?: Call["query"]): Promise<A> =>
    sender().send({ method: "GET", path, ...(query === undefined ? {} : { query }) })
  const post = <A>(path: string, body: unknown, options: WriteOptions = {}): Promise<A> => {
    const { idempotencyKey = crypto.randomUUID(), signal } = options
    return sender().send({ method: "POST", path, body, idempotencyKey, ...(signal === undefined ? {} : { signal }) })
  }
  const calls = {
    list: (query: T.TemplatesQuery = {}) => get<Page<T.ListedTemplate>>("/templates", { ...query }),
    /** Iterates over all matching templates, newest first. */
    all: ({ after: from, ...query }: T.TemplatesQuery = {}) =>
      paginate((after) => calls.list({ ...query, limit: LARGEST_PAGE, after }), from),
    /** Finds a template by its id or alias. */
    get: (name: string) => get<T.Template>(`/templates/${path(name)}`),
    create: (template: T.TemplateCreation, options?: WriteOptions) => post<T.Template>("/templates", template, options),
    /** Changes the draft. */
    update: (name: string, change: T.TemplateChange) =>
      sender().send<T.Template>({ method: "PATCH", path: `/templates/${path(name)}`, body: change }),
    archive: (name: string) =>
      sender().send<T.TemplateArchived>({ method: "DELETE", path: `/templates/${path(name)}` }),
    /** Makes the draft the next version, which is sent from now on. */
    publish: (name: string, publication: T.TemplatePublication = {}, options?: WriteOptions) =>
      post<T.ListedTemplateVersion>(`/templates/${path(name)}/publish`, publication, options),
    versions: (name: string) => get<Page<T.ListedTemplateVersion>>(`/templates/${path(name)}/versions`),
    version: (name: string, number: number) => get<T.TemplateVersion>(`/templates/${path(name)}/versions/${number}`),
    /** Sends a former version from now on. */
    rollback: (name: string, version: number, options?: WriteOptions) =>
      post<T.Template>(`/templates/${path(name)}/rollback`, { version } satisfies T.TemplateRollback, options),
    duplicate: (name: string, duplication: T.TemplateDuplication = {}, options?: WriteOptions) =>
      post<T.Template>(`/templates/${path(name)}/duplicate`, duplication, options),
    /** Returns what would be sent. */
    render: (name: string, rendering: T.TemplateRendering = {}) =>
      post<T.RenderedTemplate>(`/templates/${path(name)}/render`, rendering),
    /** Creates, changes and publishes templates by their aliases: all of them, or none. */
    push: (push: T.TemplatePush, options?: WriteOptions) =>
      post<T.TemplatePushAnswer>("/templates/push", push, options),
    /** Returns what is wrong with a source, and the variables that it uses. */
    validate: (source: T.NewTemplateSource) => post<T.TemplateValidation>("/templates/validate", source),
  }
  return calls
}
