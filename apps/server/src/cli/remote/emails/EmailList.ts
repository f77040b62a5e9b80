import type * as T from "@waybill/client/Waybill"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import { missedFirst } from "@waybill/domain/search/missedFirst"
import { searchHints } from "@waybill/domain/search/searchHints"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { soughtAddress } from "@waybill/domain/search/soughtAddress"
import { Clock, Effect, Option } from "effect"
import { Argument } from "effect/cli"
import * as Output from "../../Output.ts"
import * as OutputStyle from "../../OutputStyle.ts"
import { relativeTime } from "../../relativeTime.ts"
import { call, firstOf, leftOut } from "../ApiClient.ts"

const COLUMNS = ["id", "created_at", "status", "to", "subject"]
const COLUMNS_OF_SCHEDULED = ["id", "created_at", "status", "scheduled_at", "to", "subject"]
/** In a terminal, what is read comes first. */
const TERMINAL_COLUMNS = ["created_at", "status", "to", "subject", "id"]

/** Words of a search as the dashboard takes them. */
export const search = Argument.String("search").pipe(
  Argument.withDescription(
    "What to search for, such as `to:ana is:bounced since:7d` or a part of an address or subject",
  ),
  Argument.variadic(),
)

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

/** Lists the emails that a query finds; a person at a terminal is told how many there are. */
export const print = Effect.fnUntraced(function* (query: T.LogsQuery, limit: number, json: boolean) {
  const listed = firstOf((client) => client.logs.all(query), limit)
  if (json) return yield* Output.printFirst(yield* listed, { json, columns: COLUMNS })
  const context = { keys: undefined, now: yield* Clock.currentTimeMillis }
  yield* Effect.forEach(searchHints(query.q ?? "", context), Output.complain, { discard: true })
  const found = yield* Effect.tapError(listed, () => sayReading(query, context))
  yield* saySuppressed(soughtAddress(EmailSearch.parse(query.q ?? "", context).filters))
  const isTerminal = yield* OutputStyle.isTerminal
  const rows = yield* withShownStatus(found.rows.map((email) => ({ ...email, to: missedFirst(email, email.to) })))
  const more = isTerminal && found.more !== undefined ? yield* counted(query, limit) : found.more
  const columns = rows.some(isScheduled) ? COLUMNS_OF_SCHEDULED : COLUMNS
  yield* Output.printFirst(
    { rows: isTerminal ? rows.map(withDue(context.now)) : rows, more },
    { json, columns: isTerminal ? TERMINAL_COLUMNS : columns, none: "No emails match." },
  )
  if (rows.length === 0) yield* sayReading(query, context)
})

/** Says how many emails a query finds in all. */
const counted = Effect.fnUntraced(function* (query: T.LogsQuery, limit: number) {
  const { total } = yield* call((client) => client.logs.list({ ...query, limit: 1, count: true }))
  return leftOut(limit, countOf(total))
})

const countOf = (total: T.EmailTotal | null) =>
  `${total?.is_exact === false ? "over " : ""}${(total?.count ?? 0).toLocaleString("en")}`

/** Writes a text as one argument of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Says how plain words that find nothing are read as a search, as the dashboard does, and how many emails that finds. */
const sayReading = Effect.fnUntraced(function* (query: T.LogsQuery, context: EmailSearch.Context) {
  const q = MeantSearch.meantBy(query.q ?? "", context)
  if (q === undefined) return
  const list = yield* Effect.option(call((client) => client.logs.list({ ...query, q, limit: 1, count: true })))
  if (Option.isNone(list)) return
  const { total } = list.value
  const next = total?.count === 0 ? "" : ` To list them: waybill logs ${quoted(q)}`
  yield* Output.complain(`Read as ${q}: ${countOf(total)} ${total?.count === 1 ? "email" : "emails"}.${next}`)
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
      `Refused requests: waybill requests list --recipient ${quoted(email)}`,
  )
})
