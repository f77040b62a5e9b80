import type { PgClient } from "@effect/sql-pg"
import type { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Sendable from "@waybill/api/schemas/send/Sendable"
import * as EmailRefusal from "@waybill/domain/email/EmailRefusal"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/log/Provenance"
import { Effect, Result } from "effect"
import * as NewIds from "../process/NewIds.ts"
import * as AcceptCommit from "./AcceptCommit.ts"
import { commitTemplated } from "./commitTemplated.ts"
import * as Draft from "./Draft.ts"
import * as RequestCommit from "./RequestCommit.ts"
import * as Sends from "./Sends.ts"
import type { Programs } from "../templates/Programs.ts"
import type * as Templating from "../templates/Templating.ts"
import type { ConvertedEmail } from "./SubmittedEmail.ts"

/** Distinct from every route of the API: the same key used over SMTP and over HTTP is two requests. */
const ROUTE = "SMTP DATA"

interface Answer {
  readonly id: string
  readonly created_at: string
  /** Variables that its template has written without a value. Absent if there are none. */
  readonly missing?: ReadonlyArray<string>
}

/** The sender with the client's address. */
interface SmtpSender extends AcceptCommit.Sender {
  readonly address: string
}

/** The fingerprint includes the domain that the key is bound to, so that another key does not learn of the message. */
const refOf = (
  { account_id, key }: SmtpSender,
  { fingerprint, key: name }: NonNullable<ConvertedEmail["idempotency"]>,
) => {
  const bound = key?.domain ?? null
  return { account_id, route: ROUTE, key: name, fingerprint: bound === null ? fingerprint : `${fingerprint} ${bound}` }
}

const draftOf = (
  { forms, steering }: ConvertedEmail,
  message: EmailMessage,
  template?: Templating.Filled["used"],
): Draft.Draft => {
  const draft = Draft.fromMessage(message, template)
  const { content } = draft.command
  const attachments = content.attachments.map((file, nth) => ({ ...file, ...forms.get(nth) }))
  return { ...draft, command: { ...draft.command, steering, content: { ...content, attachments } } }
}

/** Accepts a message submitted over SMTP, as `POST /email/send` does. */
export const acceptSubmitted = Effect.fn("acceptSubmitted")(function* (
  sender: SmtpSender,
  submitted: ConvertedEmail,
): Effect.fn.Return<RequestCommit.Outcome<Answer>, Refusal, EventStore | PgClient.PgClient | Programs> {
  const { account_id, address, key } = sender
  const { idempotency } = submitted
  const { at, id } = yield* NewIds.newEmail
  const request_id = yield* NewIds.newId("RequestId")
  const accepting = (draft: Draft.Draft, missing?: ReadonlyArray<string>) =>
    AcceptCommit.accept({
      sender,
      at,
      messages: [{ id, draft: Result.succeed(draft) }],
      answer: AcceptCommit.only(({ created_at, id }): Answer => ({
        id,
        created_at,
        ...(missing === undefined ? {} : { missing }),
      })),
    })
  const target = {
    store: yield* EventStore,
    account_id,
    idempotency: idempotency === undefined ? undefined : refOf(sender, idempotency),
  }
  const { message } = submitted
  const committing = Sendable.isTemplated(message)
    ? commitTemplated(target, message, ({ message, used }) =>
        accepting(draftOf(submitted, message, used), used.missing),
      )
    : RequestCommit.commitBy(target, Effect.succeed(accepting(draftOf(submitted, message))), RequestCommit.READY)
  const accepted = Effect.catchIf(committing, EmailRefusal.isOfUnknownDomain, Sends.failWithNearest(account_id))
  return yield* Effect.provideService(accepted, Provenance, {
    actor: key === null ? { type: "system", id: null } : { type: "api_key", id: key.id },
    request_id,
    correlation_id: request_id,
    causation_id: null,
    address,
  })
})
