import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import * as Livemode from "@waybill/domain/account/Livemode"
import { permits } from "@waybill/domain/account/permits"
import * as Email from "@waybill/domain/email/Email"
import type * as EmailState from "@waybill/domain/email/EmailState"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type { Decide } from "@waybill/domain/values/Aggregate"
import type * as Id from "@waybill/domain/values/Id"
import * as Turn from "@waybill/runtime/flow/Turn"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { View } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Content from "@waybill/store/content/Content"
import type { Needs } from "@waybill/store/log/Fact"
import { EventKinds } from "@waybill/store/feed/EventKinds"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as EmailLogRecord from "@waybill/store/readmodels/emails/EmailLogRecord"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Clock, Effect, Option, Result } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import * as Draft from "../../../accept/Draft.ts"
import * as Refund from "../../../accept/Refund.ts"
import * as RequestCommit from "../../../accept/RequestCommit.ts"
import * as LargeRequests from "../../middleware/LargeRequests.ts"
import * as CallerReach from "../../middleware/CallerReach.ts"
import { isExpired } from "../../../accept/isExpired.ts"
import * as HeldRequest from "../../../web/HeldRequest.ts"
import * as Receipt from "../../../receipts/Receipt.ts"
import * as Position from "../../middleware/Position.ts"
import * as Records from "../../../web/Records.ts"
import * as Batch from "./Batch.ts"
import { readEmail } from "./readEmail.ts"
import { sendOne } from "./sendOne.ts"

export const EmailHandlers = HttpApiBuilder.group(Api, "emails", (handlers) =>
  Effect.map(Receipt.make, (receiptOf) =>
    handlers.handleAll({
      // A large message has just been decoded, and is encoded and hashed next.
      send: (call) =>
        Effect.andThen(
          Turn.afterLarge(HeldRequest.lengthOf(call.request)),
          sendOne(call, [Draft.outgoing(call.payload)]),
        ),
      get: Effect.fnUntraced(function* (call) {
        const record = yield* readEmail(call)
        const { scopes } = yield* CurrentKey
        if (permits(scopes, "email:logs:read") || (yield* isOwn(call.params.id))) return record
        return { ...record, ...WITHHELD, content: null }
      }),
      sendBatch: (call) => LargeRequests.inTurn(Effect.andThen(Turn.next, Batch.send(call))),
      receipt: Effect.fnUntraced(function* (call) {
        const { id } = call.params
        yield* CallerReach.checkEmail(id)
        const { account_id } = yield* CurrentKey
        const row = yield* Position.read(account_id, call.request, EmailLogQuery.find(account_id, id))
        if (Option.isNone(row)) return yield* new EmailRefusal.EmailNotFound()
        return yield* receiptOf(account_id, id, call)
      }),
      cancel: Effect.fnUntraced(function* (call) {
        yield* CallerReach.checkEmail(call.params.id)
        const { account_id } = yield* CurrentKey
        const { body, headers } = yield* RequestCommit.commit(
          call,
          canceling(account_id, call.params.id),
          RequestCommit.READY,
        )
        return HttpApiSchema.withHeaders({ body: yield* readable(body), headers })
      }),
      reschedule: Effect.fnUntraced(function* ({ params, payload }) {
        yield* CallerReach.checkEmail(params.id)
        const reschedule = (at: Timestamp.Timestamp, attempt: Email.AttemptState) =>
          Email.reschedule(at, payload.scheduled_at, attempt)
        const { account_id } = yield* CurrentKey
        return yield* readable(yield* RequestCommit.commitRepeatable(unlessStarted(account_id, params.id, reschedule)))
      }),
      resend: Effect.fnUntraced(function* (call) {
        yield* CallerReach.checkEmail(call.params.id)
        return yield* sendOne(call, resending(call.params.id))
      }),
    }),
  ),
)

/**
 * Whether a key without the scope to read logs may see all of an email: it sent the email itself, and not by a resend,
 * which copies mail that another key may have sent.
 */
const isOwn = Effect.fnUntraced(function* (id: Id.EmailId) {
  const { account_id, key_id } = yield* CurrentKey
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: id })
  return state._tag === "Message" && state.accepted.api_key_id === key_id && state.accepted.resend_of === null
})

/** Empties the fields that a key without the scope to read logs may not see; the shape stays that of the contract. */
const readable = Effect.fnUntraced(function* (record: EmailRecord): Effect.fn.Return<EmailRecord, never, CurrentKey> {
  const { scopes } = yield* CurrentKey
  return permits(scopes, "email:logs:read") ? record : { ...record, ...WITHHELD }
})

const WITHHELD = {
  from: "",
  to: [],
  cc: [],
  bcc: [],
  reply_to: [],
  subject: "",
  tags: [],
  api_key_id: null,
  error: null,
  recipients: [],
} satisfies Partial<EmailRecord>

/**
 * Decides about a message whose delivery may have begun. The transaction locks the outbox row, so that no worker claims it
 * meanwhile. A row that is leased counts as under way, even if its worker died, until the log records the attempt as lost.
 */
const unlessStarted = <E>(
  account_id: Id.AccountId,
  id: Id.EmailId,
  decide: (now: Timestamp.Timestamp, attempt: Email.AttemptState, view: View) => Decide<Email.State, Email.Event, E>,
  needs: Needs = {},
) =>
  workOnStream(
    Email,
    id,
    (now, view) => (state) => {
      const { facts } = view
      const attempt = (facts.outbox(id)?.lease_token ?? null) === null ? "none" : "under way"
      const clock = state._tag === "Message" ? state.accepted.test_clock : undefined
      const shown = clock === undefined ? undefined : facts.clock(account_id, clock)?.now
      return decide(shown ?? now, attempt, view)(state)
    },
    recordOf,
    { needs: { ...needs, outbox: [id], ...(Livemode.isLive(account_id) ? {} : { clocksOf: [id] }) } },
  )

/** Cancels a message. */
const canceling = Effect.fnUntraced(function* (account_id: Id.AccountId, id: Id.EmailId) {
  const { isRefunded, needs } = Refund.of(account_id, id, yield* Clock.currentTimeMillis)
  const cancel = (now: Timestamp.Timestamp, attempt: Email.AttemptState, view: View) =>
    Email.cancel(now, attempt, isRefunded(view))
  return unlessStarted(account_id, id, cancel, needs)
})

const recordOf = (state: Email.State, version: number): EmailRecord => {
  if (state._tag === "NotCreated") throw new Error("decided about an email that does not exist")
  return Records.emailRecord(EmailLogRecord.of(state, version))
}

/** Reads the original twice: before the transaction, to know what it has to load, and inside it, where it is final. */
const resending = Effect.fnUntraced(function* (id: Id.EmailId) {
  const { account_id } = yield* CurrentKey
  const { isOpen } = yield* EventKinds
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id, stream_id: id })
  if (state._tag === "NotCreated") return yield* new EmailRefusal.EmailNotFound()
  const content = (yield* isExpired(account_id, state))
    ? Option.none()
    : yield* Content.findComplete(account_id, state.accepted.content)
  const draftOf = (message: EmailState.AcceptedEmail): Draft.Draft<EmailRefusal.EmailNotFound> => ({
    command: Email.resendCommand(message),
    blobs: Option.match(content, {
      onNone: () => [],
      onSome: (whole) => [Content.encodeBody(whole), ...whole.attachments],
    }),
    original: {
      recipients: message.recipients.length,
      in_progress: message.recipients.filter(({ status }) => !EmailStatus.isFinal(status)).length,
      content_kept: Option.isSome(content),
    },
    source: { aggregate: Email, id, rebuild, record },
  })
  const rebuild = (view: View) => Result.map(originalOf(view, id), draftOf)
  const record = (view: View, copy: Id.EmailId, at: Timestamp.Timestamp) =>
    isOpen(DomainEvent.eventKind("EmailResent"))
      ? Result.map(originalOf(view, id), (message) => Email.resent(message, copy, at))
      : NOTHING
  return [Result.succeed(draftOf(state))]
})

const NOTHING = Result.succeed<ReadonlyArray<Email.Event>>([])

const originalOf = (view: View, id: Id.EmailId) => {
  const message = view.state<Email.State>(Email, id)
  return message._tag === "NotCreated" ? Result.fail(new EmailRefusal.EmailNotFound()) : Result.succeed(message)
}
