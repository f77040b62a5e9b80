import { CurrentKey } from "@waybill/api/middleware/Authorization"
import { decodeStrictly } from "@waybill/api/errors/decodeStrictly"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { type LogQuery, TypedFilters } from "@waybill/api/groups/Logs"
import * as SearchSchemas from "@waybill/api/schemas/EmailSearch"
import * as Livemode from "@waybill/domain/account/Livemode"
import { permits } from "@waybill/domain/account/permits"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as SearchText from "@waybill/domain/search/SearchText"
import type { Detail } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as ApiKeys from "@waybill/store/readmodels/ApiKeys"
import * as Templates from "@waybill/store/readmodels/templates/Templates"
import { Effect, Option } from "effect"
import * as NewIds from "../../../process/NewIds.ts"

const decode = decodeStrictly(TypedFilters)

/** Returns the filters of a search as typed, such as `to:ana is:bounced`; refuses what is not understood or given twice. */
export const typedFilters = Effect.fn("typedFilters")(function* (text: string, others: Partial<LogQuery>) {
  const { chips, filters } = EmailSearch.parse(text, yield* contextOf(text))
  const problems = chips.flatMap(({ name, problem, value }) =>
    problem === undefined ? [] : [`is not understood at “${name === "Text" ? value : `${name}:${value}`}”. ${problem}`],
  )
  if (chips.length === 0) problems.push("must have a word to search for")
  yield* refuse(problems.map((message) => ({ path: "q", message })))
  const typed = encodedOf(filters)
  const twice = Object.keys(typed).filter((name) => name !== "q" && Object.hasOwn(others, name))
  yield* refuse(twice.map((path) => ({ path, message: "is also in `q`; give it once" })))
  return yield* Effect.mapError(decode(typed), ({ details, ...violations }) =>
    RequestRefusal.invalid({
      ...violations,
      details: details.map(({ message, path }) => ({ path: "q", message: `has a filter \`${path}\` that ${message}` })),
    }),
  )
})

const refuse = (details: ReadonlyArray<Detail>) =>
  details.length === 0
    ? Effect.void
    : Effect.fail(new RequestRefusal.InvalidRequest({ reason: "validation_failed", details }))

const OF_METADATA = "metadata."

/** Filters as the query of a request holds them, in which pairs of metadata are items of one parameter. */
const encodedOf = (filters: EmailSearch.Filters): Readonly<Record<string, unknown>> => {
  const entries = Object.entries(filters)
  const pairs = entries.flatMap(([name, value]) =>
    name.startsWith(OF_METADATA) ? [SearchSchemas.pairText(name.slice(OF_METADATA.length), String(value))] : [],
  )
  const others = entries.filter(([name]) => !name.startsWith(OF_METADATA))
  return { ...Object.fromEntries(others), ...(pairs.length === 0 ? {} : { metadata: pairs }) }
}

/**
 * Names of keys and templates are read only for a search that names some, and for callers who may list them: no test key may,
 * and no key of a domain may list templates.
 */
const contextOf = Effect.fnUntraced(function* (text: string) {
  const { account_id, domain, key_id, scopes } = yield* CurrentKey
  const seesLiveNames = key_id === null || Livemode.isLive(account_id)
  const now = yield* NewIds.now
  const account = Livemode.liveAccountOf(account_id)
  const namesKey = seesLiveNames && permits(scopes, "admin") && SearchText.valuesOf(text, "key").length > 0
  const namesTemplate = seesLiveNames && domain === null && permits(scopes, "templates:read")
  const [alias] = namesTemplate ? SearchText.valuesOf(text, "template") : []
  const keys = namesKey ? yield* ApiKeys.list(now, account) : undefined
  const template = alias === undefined ? Option.none() : yield* Templates.find(account, alias)
  return {
    keys: keys?.filter((key) => domain === null || key.domain === domain),
    templates: Option.match(template, { onNone: () => [], onSome: ({ record }) => [record] }),
    now: Timestamp.toMillis(now),
  } satisfies EmailSearch.Context
})
