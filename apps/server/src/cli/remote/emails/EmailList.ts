import type * as T from "@waybill/client/Waybill"
import { countByStatus } from "@waybill/domain/search/countByStatus"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import * as SearchText from "@waybill/domain/search/SearchText"
import { shownFirst } from "@waybill/domain/search/shownFirst"
import { searchHints } from "@waybill/domain/search/searchHints"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { Clock, Effect, Option } from "effect"
import { Argument } from "effect/cli"
import * as Output from "../../Output.ts"
import * as OutputStyle from "../../OutputStyle.ts"
import { relativeTime } from "../../relativeTime.ts"
import { call, firstOf, leftOut } from "../ApiClient.ts"
import * as Options from "../../Options.ts"

const COLUMNS = ["id", "created_at", "status", "to", "subject"]
const COLUMNS_OF_SCHEDULED = ["id", "created_at", "status", "scheduled_at", "to", "subject"]
/** In a terminal, what is read comes first. */
const TERMINAL_COLUMNS = ["created_at", "status", "to", "subject", "id"]

/** Words of a search as the dashboard takes them. */
export const search = Options.argument(
  "search",
  "What to search for, such as `to:ana is:bounced since:7d` or a part of an address or subject",
).pipe(Argument.variadic())

/** Shows people the statuses that screens show: also `scheduled` and `partly bounced`. */
export const withShownStatus = <A extends Parameters<typeof shownStatus>[0]>(emails: ReadonlyArray<A>) =>
  Effect.map(Clock.currentTimeMillis, (now) => emails.map((email) => ({ ...email, status: shownStatus(email, now) })))

/** Says in the status of a scheduled email in how long it is due. */
const withDue =
  (now: number) =>
  <A extends { readonly status: string; readonly scheduled_at: string | null }>(email: A) => ({
    ...email,
    status: isScheduled(email) ? `scheduled ${relativeTime(email.scheduled_at ?? "", now)}` : email.status,
  })

const isScheduled = ({ status }: { readonly status: string }): boolean => status === "scheduled"

type Timed = Pick<T.EmailLog, "scheduled_at">
const byDueTime = (one: Timed, other: Timed): number => (one.scheduled_at ?? "").localeCompare(other.scheduled_at ?? "")

/** Lists the emails that a query finds; a person at a terminal is told how many there are. */
export const print = Effect.fnUntraced(function* (typed: T.LogsQuery, limit: number, json: boolean) {
  const context = { keys: yield* keysNamedIn(typed.q ?? ""), now: yield* Clock.currentTimeMillis }
  if (!json) yield* Effect.forEach(searchHints(typed.q ?? "", context), Output.complain, { discard: true })
  const { query, ...found } = yield* read(typed, limit, context, json)
  if (json) return yield* Output.printFirst(found, { json, columns: COLUMNS })
  yield* saySuppressed(EmailSearch.soughtAddress(EmailSearch.parse(query.q ?? "", context).filters))
  const isTerminal = yield* OutputStyle.isTerminal
  const rows = yield* withShownStatus(found.rows.map((email) => ({ ...email, to: shownFirst(email, email.to) })))
  const more = isTerminal && found.more !== undefined ? yield* counted(query, limit) : found.more
  const columns = rows.some(isScheduled) ? COLUMNS_OF_SCHEDULED : COLUMNS
  const ordered = more === undefined && rows.every(isScheduled) ? rows.toSorted(byDueTime) : rows
  yield* Output.printFirst(
    { rows: isTerminal ? ordered.map(withDue(context.now)) : ordered, more },
    { json, columns: isTerminal ? TERMINAL_COLUMNS : columns, none: NONE },
  )
  yield* sayHidden(query, context)
  if (rows.length > 0) return
  if (!isTerminal) yield* Output.complain(NONE)
  yield* sayOtherStates(query, limit, context.now)
})

/** Words before the name of an API key. */
const BEFORE_KEY = /(?:^|\s)(?:by|from|using|key)\s/iu

/** Reads the API keys if words may name one; undefined if not, or if the key of the command may not list them. */
const keysNamedIn = Effect.fnUntraced(function* (text: string) {
  if (!BEFORE_KEY.test(text)) return undefined
  return Option.getOrUndefined(yield* Effect.option(call((client) => client.apiKeys.list())))?.data
})

const NONE = "No emails match."

/** Says how many emails bounced for some recipients only, which a search for bounced ones does not find. */
const sayHidden = Effect.fnUntraced(function* (query: T.LogsQuery, context: EmailSearch.Context) {
  const { q = "", status = [], ...others } = query
  const statuses = [...[status].flat(), ...SearchText.valuesOf(q, "is")]
  const hidden = SearchedStatus.hiddenBy(statuses)
  const { filters, isUnderstood } = EmailSearch.parse(q, context)
  if (hidden === undefined || !isUnderstood || filters.recipient_status !== undefined) return
  const search = `${SearchText.withValues(q, "is", [])} is:${hidden.status} anyone:${hidden.recipient_status}`
  const { total } = yield* call((client) => client.logs.list({ ...others, q: search, limit: 1, count: true }))
  if (!total?.count) return
  const count = `${total.is_exact ? "" : "over "}${total.count.toLocaleString("en")}`
  yield* Output.complain(
    `${count} ${total.count === 1 ? "email" : "emails"} ${hidden.recipient_status?.replaceAll(",", " or ")} for some ` +
      `recipients only, not listed here. anyone:${statuses.join(",")} finds them too.`,
  )
})

/** Says in which states the emails are that a search for others does not find. */
const sayOtherStates = Effect.fnUntraced(function* (query: T.LogsQuery, limit: number, now: number) {
  const q = SearchText.inAnyState(query.q ?? "")
  if (q === undefined) return
  const { more, rows } = yield* firstOf((client) => client.logs.all({ ...query, q }), limit)
  if (rows.length === 0) return
  const found = countByStatus(rows, now)
  yield* Output.complain(
    `In any state${more === undefined ? "" : `, the first ${rows.length}`}: ${found}. List them: waybill logs '${q.replaceAll("'", "'\\''")}'`,
  )
})

/**
 * Reads the emails of a query, or of the search that its plain words mean: if they are no search, or find nothing, as in the
 * dashboard. A program that searches for words gets those with the words.
 */
const read = Effect.fnUntraced(function* (
  query: T.LogsQuery,
  limit: number,
  context: EmailSearch.Context,
  json: boolean,
) {
  const listed = (query: T.LogsQuery) =>
    Effect.map(
      firstOf((client) => client.logs.all(query), limit),
      (found) => ({ ...found, query }),
    )
  const [first, ...others] = MeantSearch.readingsOf(query.q ?? "", context)
  if (first === undefined) return yield* listed(query)
  const asMeant = Effect.gen(function* () {
    const asFirst = yield* listed({ ...query, q: first })
    let found = asFirst
    for (const q of others) if (found.rows.length === 0) found = yield* listed({ ...query, q })
    if (found.rows.length === 0) found = asFirst
    yield* Output.complain(`Read as ${found.query.q}`)
    return found
  })
  if (!EmailSearch.parse(query.q ?? "", context).isUnderstood) return yield* asMeant
  const found = yield* listed(query)
  return found.rows.length > 0 || json ? found : yield* Effect.orElseSucceed(asMeant, () => found)
})

/** Says how many emails a query finds in all. */
const counted = Effect.fnUntraced(function* (query: T.LogsQuery, limit: number) {
  const { total } = yield* call((client) => client.logs.list({ ...query, limit: 1, count: true }))
  const count = (total?.count ?? 0).toLocaleString("en")
  return leftOut(limit, total?.is_exact === false ? `over ${count}` : count)
})

/** Says that an address is suppressed: requests to it alone are refused, and leave no mail in the list. */
const saySuppressed = Effect.fnUntraced(function* (address: string | undefined) {
  if (address === undefined) return
  // A key that may not read suppressions lists the emails all the same.
  const found = yield* Effect.option(call((client) => client.suppressions.get(address)))
  if (Option.isNone(found)) return
  const { created_at, email, reason } = found.value
  yield* Output.complain(
    `${email} is suppressed since ${created_at.slice(0, "2026-11-30".length)} (${reason.replace("_", " ")}). ` +
      `Refused requests: waybill requests list --recipient '${email.replaceAll("'", "'\\''")}'`,
  )
})
