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
import type * as Id from "@waybill/domain/values/Id"
import { Effect } from "effect"
import { accountOf } from "../requests/accountOf.ts"
import { Admitted } from "../requests/Admitted.ts"
import { NativeError } from "./Door.ts"
import * as Native from "./Native.ts"
import { nativePath } from "./nativePath.ts"

/** Pages of our own list, which has at most 1,000 templates that are not archived. */
const MAX_PAGES = 20

interface ListPage {
  readonly data: ReadonlyArray<ListedTemplate>
  readonly next_cursor: string | null
}

/** Returns all templates that are not archived, newest first. */
export const all = Effect.fnUntraced(function* (kind?: TemplateKind) {
  const found: Array<ListedTemplate> = []
  const query = new URLSearchParams({ limit: String(Page.MAX_LIMIT), ...(kind === undefined ? {} : { kind }) })
  for (let page = 0; page < MAX_PAGES; page++) {
    const { data, next_cursor } = yield* Native.call<ListPage>({ method: "GET", path: `/v1/templates?${query}` })
    found.push(...data)
    if (next_cursor === null) break
    query.set("after", next_cursor)
    yield* Turn.next
  }
  return found
})

/** Finds a template by its id or alias. */
export const get = (name: string) =>
  Native.call<TemplateRecord>({ method: "GET", path: nativePath`/v1/templates/${name}` })

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

type Headers = Readonly<Record<string, string | undefined>>

export const create = (body: Names & Source, headers: Headers) =>
  Native.call<TemplateRecord>({
    method: "POST",
    path: "/v1/templates",
    body,
    headers: Native.idempotency(headers),
  })

export const update = (name: string, body: Names & Source) =>
  Native.call<TemplateRecord>({ method: "PATCH", path: nativePath`/v1/templates/${name}`, body })

interface Publication {
  readonly notes?: string | null
  readonly activate?: boolean
  readonly unchanged_since?: string
}

export const publish = (name: string, body: Publication, headers: Headers, nth = 0) =>
  Native.call<ListedVersion>({
    method: "POST",
    path: nativePath`/v1/templates/${name}/publish`,
    body,
    headers: Native.idempotency(headers, nth),
  })

/**
 * Changes a template and publishes it at once. If another request changes it in between, its words are not published in
 * place of these: both are done once more.
 */
export const updateAndPublish = (name: string, body: Names & Source, how: Publication, headers: Headers) => {
  const once = Effect.gen(function* () {
    const changed = yield* update(name, body)
    const published = yield* publish(name, { ...how, unchanged_since: changed.updated_at }, headers)
    return { changed, published }
  })
  return Effect.retry(once, {
    while: (failure) => failure instanceof NativeError && failure.error.reason === "template_draft_changed",
    times: MAX_RETRIES,
  })
}

/** Times that a change is made again because another one came in between. */
const MAX_RETRIES = 1

/** The account whose templates a request means. Test mail is made of those of the live account. */
export const owner = Effect.map(Admitted, (admitted) => Livemode.liveAccountOf(accountOf(admitted) as Id.AccountId))

export const archive = (name: string) => Native.call({ method: "DELETE", path: nativePath`/v1/templates/${name}` })

export const duplicate = (name: string, body: { readonly name?: string | undefined }, headers: Headers) =>
  Native.call<TemplateRecord>({
    method: "POST",
    path: nativePath`/v1/templates/${name}/duplicate`,
    body,
    headers: Native.idempotency(headers),
  })

export const versions = (name: string) =>
  Effect.map(
    Native.call<{ readonly data: ReadonlyArray<ListedVersion> }>({
      method: "GET",
      path: nativePath`/v1/templates/${name}/versions`,
    }),
    ({ data }) => data,
  )

export const version = (name: string, number: number) =>
  Native.call<VersionRecord>({
    method: "GET",
    path: nativePath`/v1/templates/${name}/versions/${String(number)}`,
  })

export const rollBack = (name: string, number: number, headers: Headers) =>
  Native.call<TemplateRecord>({
    method: "POST",
    path: nativePath`/v1/templates/${name}/rollback`,
    body: { version: number },
    headers: Native.idempotency(headers),
  })

/** Refuses a source that could not be published, before anything of it is stored. `names` are the service's for our fields. */
export const check = Effect.fnUntraced(function* (source: Source, names: Readonly<Record<string, string>>) {
  const { problems } = yield* Native.call<typeof Validated.Type>({
    method: "POST",
    path: "/v1/templates/validate",
    body: source,
  })
  if (problems.length === 0) return
  const details = problems.map(({ message, path }) => ({ path: Table.at(names, path) ?? path, message }))
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
