import { Api } from "@waybill/api/Api"
import type { LogQuery } from "@waybill/api/groups/Logs"
import * as Email from "@waybill/domain/email/Email"
import type * as Id from "@waybill/domain/values/Id"
import { Cursors } from "@waybill/store/feed/Cursors"
import type * as EmailLogFilter from "@waybill/store/search/EmailLogFilter"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Position from "../middleware/Position.ts"
import * as CallerReach from "../middleware/CallerReach.ts"
import * as Records from "../../web/Records.ts"
import { typedFilters } from "./history/typedFilters.ts"
import { readEmail } from "./emails/readEmail.ts"
import * as Handlers from "../middleware/Handlers.ts"

export const LogHandlers = HttpApiBuilder.group(Api, "logs", (handlers) =>
  handlers.handleAll({
    list: Handlers.withKey(function* ({ account_id }, { query: { count, ...query }, request }) {
      const filter = yield* filterOf(account_id, query)
      const page = yield* Position.read(account_id, request, EmailLogQuery.list(filter))
      const total = count === "true" ? yield* Position.read(account_id, request, EmailLogQuery.count(filter)) : null
      return { object: "list" as const, ...page, total, data: page.data.map(Records.emailRecord) }
    }),
    get: readEmail,
    events: Handlers.withKey(function* ({ account_id }, { params, request }) {
      yield* CallerReach.checkEmail(params.id)
      const facts = yield* Position.read(account_id, request, EmailLogQuery.events(account_id, params.id))
      if (facts.length === 0) return yield* yield* CallerReach.emailNotFound(params.id)
      const cursors = yield* Cursors
      const cursorOf = (position: bigint) => cursors.ofEvent(account_id, position)
      return Records.completeList(
        facts.map((fact) =>
          Records.eventRecord({ ...fact, account_id }, cursorOf(fact.position), Email.stream, params.id),
        ),
      )
    }),
  }),
)

/** Returns the query of the log that the parameters of a request make. */
export const filterOf = Effect.fnUntraced(function* (
  account_id: Id.AccountId,
  { livemode: _, q, ...given }: Omit<LogQuery, "count">,
) {
  const typed = q === undefined ? {} : yield* typedFilters(q, given)
  const { q: words, ...query } = { ...typed, ...given }
  const domain = yield* CallerReach.domainFilter(query.domain)
  return {
    account_id,
    ...query,
    ...(domain === undefined ? {} : { domain }),
    ...(words === undefined ? {} : { words }),
  } satisfies EmailLogFilter.Query
})
