import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as Email from "@waybill/domain/email/Email"
import type * as Id from "@waybill/domain/values/Id"
import * as Content from "@waybill/store/content/Content"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as TimeTravel from "@waybill/store/operations/TimeTravel"
import { Effect, Option } from "effect"
import { isExpired } from "../../../accept/isExpired.ts"
import type { EndpointCall } from "../../middleware/Handlers.ts"
import * as CallerReach from "../../middleware/CallerReach.ts"
import * as Position from "../../middleware/Position.ts"
import * as Records from "../../../web/Records.ts"

/** Returns the record of an email, now or at a time, and its content while that is kept. */
export const readEmail = Effect.fnUntraced(function* ({
  params,
  query: { as_of },
  request,
}: EndpointCall<"emails" | "logs", "get">) {
  const { account_id } = yield* CurrentKey
  const row =
    as_of === undefined
      ? yield* Position.read(account_id, request, EmailLogQuery.find(account_id, params.id))
      : yield* TimeTravel.email(account_id, params.id, as_of)
  if (Option.isNone(row)) return yield* yield* CallerReach.emailNotFound(params.id)
  const record = Records.emailRecord(row.value)
  yield* CallerReach.checkDomain(record.domain)
  return { ...record, ...(yield* detailsOf(account_id, params.id)) }
})

const UNKNOWN = {
  forward_of: null,
  reply_tracking: null,
  resend_of: null,
  copies: [],
  content: null,
}

/** Loads what the log row does not contain, to keep rows small. */
const detailsOf = Effect.fnUntraced(function* (account_id: Id.AccountId, id: Id.EmailId) {
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: id })
  if (state._tag === "NotCreated") return UNKNOWN
  const { content } = state.accepted
  const body = (yield* isExpired(account_id, state)) ? Option.none() : yield* Content.findBody(account_id, content)
  return {
    forward_of: state.accepted.forward_of ?? null,
    reply_tracking: state.accepted.reply_tracking ?? null,
    resend_of: state.accepted.resend_of,
    copies: state.copies ?? [],
    content: Option.getOrNull(
      Option.map(body, ({ html, text }) => ({
        html,
        text,
        attachments: content.attachments.map(({ alternative, entity, sha256, ...file }) => file),
      })),
    ),
  }
})
