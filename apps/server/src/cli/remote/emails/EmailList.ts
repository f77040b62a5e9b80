import type * as T from "@waybill/client/Waybill"
import { missedFirst } from "@waybill/domain/search/missedFirst"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { Clock, Effect } from "effect"
import { Argument } from "effect/cli"
import * as Output from "../../Output.ts"
import * as OutputStyle from "../../OutputStyle.ts"
import { call, firstOf, leftOut } from "../ApiClient.ts"

const COLUMNS = ["id", "created_at", "status", "to", "subject"]
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

/** Lists the emails that a query finds; a person at a terminal is told how many there are. */
export const print = Effect.fnUntraced(function* (query: T.LogsQuery, limit: number, json: boolean) {
  const found = yield* firstOf((client) => client.logs.all(query), limit)
  const isTerminal = yield* OutputStyle.isTerminal
  if (json) return yield* Output.printFirst(found, { json, columns: COLUMNS })
  const rows = yield* withShownStatus(found.rows.map((email) => ({ ...email, to: missedFirst(email, email.to) })))
  const more = isTerminal && found.more !== undefined ? yield* counted(query, limit) : found.more
  yield* Output.printFirst(
    { rows, more },
    {
      json,
      columns: isTerminal ? TERMINAL_COLUMNS : COLUMNS,
      none: "No emails match.",
    },
  )
})

/** Says how many emails a query finds in all. */
const counted = Effect.fnUntraced(function* (query: T.LogsQuery, limit: number) {
  const { total } = yield* call((client) => client.logs.list({ ...query, limit: 1, count: true }))
  const count = total?.count.toLocaleString("en")
  return leftOut(limit, total?.is_exact === false ? `over ${count}` : count)
})
