import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import type { LogQuery } from "@waybill/api/groups/Logs"
import * as Email from "@waybill/domain/email/Email"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as Tracking from "@waybill/domain/email/Tracking"
import * as Content from "@waybill/store/content/Content"
import { Cursors } from "@waybill/store/feed/Cursors"
import type * as EmailLogFilter from "@waybill/store/search/EmailLogFilter"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as TimeTravel from "@waybill/store/streams/TimeTravel"
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Position from "../Position.ts"
import * as CallerReach from "../middleware/CallerReach.ts"
import { isExpired } from "../../clock/isExpired.ts"
import * as Records from "./Records.ts"

export const LogHandlers = HttpApiBuilder.group(Api, "logs", (handlers) =>
  handlers.handleAll({
    list: ({ query, request }) =>
      Effect.gen(function* () {
        const { account_id } = yield* CurrentKey
        const domain = yield* CallerReach.domainFilter(query.domain)
        const filter = filterOf(account_id, { ...query, ...(domain === undefined ? {} : { domain }) })
        const page = yield* Position.read(account_id, request, EmailLogQuery.list(filter))
        return { object: "list" as const, ...page, data: page.data.map(Records.emailRecord) }
      }),
    get: ({ params, query: { as_of }, request }) =>
      Effect.gen(function* () {
        const { account_id } = yield* CurrentKey
        const row =
          as_of === undefined
            ? yield* Position.read(account_id, request, EmailLogQuery.find(account_id, params.id))
            : yield* TimeTravel.email(account_id, params.id, as_of)
        if (Option.isNone(row)) return yield* new EmailRefusal.EmailNotFound()
        const record = Records.emailRecord(row.value)
        yield* CallerReach.checkDomain(record.domain)
        return { ...record, ...(yield* detailsOf(account_id, params.id)) }
      }),
    events: ({ params, request }) =>
      Effect.gen(function* () {
        const { account_id } = yield* CurrentKey
        yield* CallerReach.checkEmail(params.id)
        const facts = yield* Position.read(account_id, request, EmailLogQuery.events(account_id, params.id))
        if (facts.length === 0) return yield* new EmailRefusal.EmailNotFound()
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

const filterOf = (
  account_id: Id.AccountId,
  { livemode: _, message_id, q, tag, ...query }: LogQuery,
): EmailLogFilter.Query => ({
  account_id,
  ...query,
  ...(tag === undefined ? {} : { tags: tag }),
  ...(q === undefined ? {} : { words: q }),
  ...(message_id === undefined ? {} : { id: message_id }),
})

/** Loads what the log row does not contain, to keep rows small: tracking and content. */
const detailsOf = Effect.fnUntraced(function* (account_id: Id.AccountId, id: Id.EmailId) {
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: id })
  if (state._tag === "NotCreated") return { tracking: Tracking.NONE, content: null }
  const { content, tracking = Tracking.NONE } = state.accepted
  const body = (yield* isExpired(account_id, state)) ? Option.none() : yield* Content.findBody(account_id, content)
  return {
    tracking,
    content: Option.getOrNull(
      Option.map(body, ({ html, text }) => ({
        html,
        text,
        attachments: content.attachments.map(({ sha256, ...file }) => file),
      })),
    ),
  }
})
