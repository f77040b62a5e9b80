import type {
  ListedTemplate,
  ListedVersion,
  TemplateRecord,
  Validated,
  VersionRecord,
} from "@waybill/api/groups/templates/TemplateRecords"
import * as Page from "@waybill/api/schemas/Page"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { TemplateKind, TemplateLanguage } from "@waybill/domain/template/TemplateState"
import * as Table from "@waybill/domain/values/Table"
import * as Turn from "@waybill/runtime/flow/Turn"
import * as Livemode from "@waybill/domain/account/Livemode"
import { Effect } from "effect"
import { accountOf } from "../requests/accountOf.ts"
import { Admitted } from "../requests/Admitted.ts"
import { type DoorRequest, NativeError } from "./Door.ts"
import * as Native from "./Native.ts"

/** Pages of our own list, which has at most 1,000 templates that are not archived. */
const MAX_PAGES = 20

/** Returns all templates that are not archived, newest first. */
export const all = Effect.fnUntraced(function* (kind?: TemplateKind) {
  const found: Array<ListedTemplate> = []
  const query = new URLSearchParams({ limit: String(Page.MAX_LIMIT), ...(kind === undefined ? {} : { kind }) })
  for (let page = 0; page < MAX_PAGES; page++) {
    const { data, next_cursor } = yield* Native.get<Native.List<ListedTemplate>>(`/v1/templates?${query}`)
    found.push(...data)
    if (next_cursor === null) break
    query.set("after", next_cursor)
    yield* Turn.next
  }
  return found
})

/** Finds a template by its id or alias. */
export const get = (name: string) => Native.get<TemplateRecord>(Native.path`/v1/templates/${name}`)

/** A source as the doors write it; what is left out is empty in a new template, and stays in another. */
export interface Source {
  readonly subject?: string | undefined
  readonly html?: string | undefined
  readonly text?: string | undefined
  readonly language?: TemplateLanguage
  readonly from?: string | undefined
  readonly reply_to?: ReadonlyArray<string> | undefined
  readonly layout?: string | null | undefined
  readonly variables?: unknown
}

interface Names {
  readonly name?: string | undefined
  readonly alias?: string | null | undefined
  readonly kind?: TemplateKind
}

type Headers = DoorRequest["headers"]

export const create = (body: Names & Source, headers: Headers) =>
  Native.post<TemplateRecord>("/v1/templates", headers, body)

export const update = (name: string, body: Names & Source) =>
  Native.patch<TemplateRecord>(Native.path`/v1/templates/${name}`, body)

interface Publication {
  readonly notes?: string | null
  readonly activate?: boolean
  readonly unchanged_since?: string
}

export const publish = (name: string, body: Publication, headers: Headers, nth = 0) =>
  Native.post<ListedVersion>(Native.path`/v1/templates/${name}/publish`, headers, body, nth)

/**
 * Changes a template and publishes it at once. If another request changes it in between, its words are not published in
 * place of these: both are done once more.
 */
export const updateAndPublish = (name: string, body: Names & Source, how: Publication, headers: Headers) => {
  const once = Effect.flatMap(update(name, body), (changed) =>
    Effect.map(publish(name, { ...how, unchanged_since: changed.updated_at }, headers), (published) => ({
      changed,
      published,
    })),
  )
  return Effect.retry(once, {
    while: (failure) => failure instanceof NativeError && failure.reason === "template_draft_changed",
    times: MAX_RETRIES,
  })
}

/** Times that a change is made again because another one came in between. */
const MAX_RETRIES = 1

/** The account whose templates a request means. Test mail is made of those of the live account. */
export const owner = Effect.map(Admitted, (admitted) => Livemode.liveAccountOf(accountOf(admitted)))

export const archive = (name: string) => Native.remove(Native.path`/v1/templates/${name}`)

export const duplicate = (name: string, body: { readonly name?: string | undefined }, headers: Headers) =>
  Native.post<TemplateRecord>(Native.path`/v1/templates/${name}/duplicate`, headers, body)

export const versions = (name: string) =>
  Effect.map(
    Native.get<Pick<Native.List<ListedVersion>, "data">>(Native.path`/v1/templates/${name}/versions`),
    ({ data }) => data,
  )

export const version = (name: string, number: number) =>
  Native.get<VersionRecord>(Native.path`/v1/templates/${name}/versions/${String(number)}`)

export const rollBack = (name: string, number: number, headers: Headers) =>
  Native.post<TemplateRecord>(Native.path`/v1/templates/${name}/rollback`, headers, { version: number })

/** Refuses a source that could not be published, before anything of it is stored. `names` are the service's for our fields. */
export const check = Effect.fnUntraced(function* (source: Source, names: Readonly<Record<string, string>>) {
  const { problems } = yield* Native.post<typeof Validated.Type>("/v1/templates/validate", {}, source)
  if (problems.length === 0) return
  const details = problems.map((each) => ({ ...each, path: Table.at(names, each.path) ?? each.path }))
  return yield* new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
})

/** Refuses to change words that are in another language than those of the service. */
export const checkLanguage = ({ draft }: TemplateRecord, language: TemplateLanguage) => {
  const isEmpty = draft.html === null && draft.text === null && draft.subject === null
  return isEmpty || (draft.language ?? "liquid") === language
    ? Effect.void
    : Effect.fail(
        Native.refuse("", `cannot change a template in ${draft.language ?? "Liquid"}; use PATCH /v1/templates/{id}`),
      )
}
