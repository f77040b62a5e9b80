import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import type { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import type { Decide } from "@waybill/domain/stream/Aggregate"
import * as Email from "@waybill/domain/email/Email"
import { EmailNotFound } from "@waybill/domain/email/EmailRefusal"
import type * as Id from "@waybill/domain/values/Id"
import * as Scope from "@waybill/domain/account/Scope"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Content from "@waybill/store/content/Content"
import * as EmailLog from "@waybill/store/readmodels/EmailLog"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { View } from "@waybill/store/commit/Commit"
import { Effect, Option, Result } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import * as Acceptance from "../../accept/acceptance.ts"
import { newEmail } from "../../operate/fresh.ts"
import { sendBatch } from "../../accept/batch.ts"
import { about, type Call, commit, once, onceMade } from "../../accept/commitRequest.ts"
import { Instance } from "../Instance.ts"
import { checkEmail } from "../middleware/keyReach.ts"

const sender = Effect.gen(function* (): Effect.fn.Return<Acceptance.Sender, never, CurrentKey | Instance> {
  const { account_id, domain, key_id } = yield* CurrentKey
  const { tracks } = yield* Instance
  return { account_id, key: key_id === null ? null : { id: key_id, domain }, tracks }
})

const send = Effect.fnUntraced(function* (call: Call & { readonly payload: EmailMessage }) {
  const { asked, id } = yield* newEmail
  return yield* once(call, sending(yield* sender, id, call.payload, asked))
})

export const EmailsLive = HttpApiBuilder.group(Api, "emails", (handlers) =>
  handlers.handleAll({
    send,
    sendBatch: (call) => Effect.flatMap(sender, (from) => sendBatch(call, from)),
    cancel: (call) =>
      Effect.gen(function* () {
        yield* checkEmail(call.params.id)
        const { body, headers } = yield* once(call, whileItWaits(call.params.id, Email.cancel))
        return HttpApiSchema.withHeaders({ body: yield* shown(body), headers })
      }),
    reschedule: ({ params, payload }) =>
      Effect.gen(function* () {
        yield* checkEmail(params.id)
        const reschedule = (at: Timestamp.Timestamp, attempt: Email.Attempt) =>
          Email.reschedule(at, payload.scheduled_at, attempt)
        return yield* shown(yield* commit(whileItWaits(params.id, reschedule)))
      }),
    resend: (call) => Effect.andThen(checkEmail(call.params.id), onceMade(call, resending(call.params.id))),
  }),
)

/**
 * A key that may not read logs learns what became of the message, and not what it says or to whom. The shape stays the
 * contract's, so what is withheld is empty.
 */
const shown = Effect.fnUntraced(function* (record: EmailRecord): Effect.fn.Return<EmailRecord, never, CurrentKey> {
  const { scopes } = yield* CurrentKey
  return Scope.permits(scopes, "email:logs:read") ? record : { ...record, ...WITHHELD }
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
 * The row of the outbox is held until the commit, so that no worker claims it meanwhile; where one has, it may be too
 * late. That holds for a worker that died too: what became of its attempt is not known before the log says it was lost.
 */
const whileItWaits = <E>(
  id: Id.EmailId,
  decide: (now: Timestamp.Timestamp, attempt: Email.Attempt) => Decide<Email.State, Email.Event, E>,
) =>
  about(
    Email,
    id,
    (now, { facts }) => decide(now, (facts.outbox(id)?.lease_token ?? null) === null ? "none" : "under way"),
    recordOf,
    { needs: { outbox: [id] } },
  )

const recordOf = (state: Email.State, version: number): EmailRecord => {
  if (state._tag === "Unborn") throw new Error("decided about an email that does not exist")
  return EmailLog.record(state, version) as EmailRecord
}

/** What a message that comes in by itself asks of the store. */
export const sending = (from: Acceptance.Sender, id: Id.EmailId, message: EmailMessage, asked: Timestamp.Timestamp) => {
  const draft = Acceptance.draft(message)
  return queueing(from, id, draft, asked, () => Result.succeed(draft))
}

/** A message under an id of its own; the answer says that it is queued, whatever else becomes of it. */
const queueing = <E>(
  from: Acceptance.Sender,
  id: Id.EmailId,
  draft: Acceptance.Draft,
  asked: Timestamp.Timestamp,
  draftOf: (view: View) => Result.Result<Acceptance.Draft, E>,
  streams: ReadonlyArray<string> = [],
) => ({
  streams: [{ aggregate: Email, id, fresh: true }, ...streams.map((id) => ({ aggregate: Email, id }))],
  needs: Acceptance.needsOf([draft], asked),
  bytes: Acceptance.bytesOf([draft]),
  decide: (view: View) =>
    Result.flatMap(draftOf(view), (draft) =>
      Result.map(Acceptance.accept(view, from, id, draft, asked), ({ created_at, decision }) => ({
        ...decision,
        answer: { id, status: "queued" as const, created_at },
      })),
    ),
})

/** Looked at twice: once to know what the flight has to know, and once in it, where nothing changes any more. */
const resending = Effect.fnUntraced(function* (id: Id.EmailId) {
  const from = yield* sender
  const store = yield* EventStore
  const state = yield* store.state(Email, { account_id: from.account_id, stream_id: id })
  if (state._tag === "Unborn") return yield* new EmailNotFound()
  const content = yield* Content.whole(from.account_id, state.accepted.content)
  const draftOf = (message: Email.Message): Acceptance.Draft => ({
    command: Email.resendCommand(message),
    blobs: Option.match(content, {
      onNone: () => [],
      onSome: (whole) => [Content.encodeBody(whole), ...whole.attachments],
    }),
    original: { recipients: message.recipients.length, content_kept: Option.isSome(content) },
  })
  const again = (view: View) => {
    const message = view.state<Email.State>(Email, id)
    return message._tag === "Unborn" ? Result.fail(new EmailNotFound()) : Result.succeed(draftOf(message))
  }
  const copy = yield* newEmail
  return queueing(from, copy.id, draftOf(state), copy.asked, again, [id])
})
