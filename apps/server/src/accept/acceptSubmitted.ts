import { IdempotencyKeyReused } from "@waybill/api/errors/RequestRefusal"
import * as Email from "@waybill/domain/email/Email"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Provenance } from "@waybill/store/commit/Provenance"
import { Effect, Result } from "effect"
import * as Acceptance from "./acceptance.ts"
import { newEmail, newId } from "../operate/fresh.ts"
import type { Read } from "./submittedEmail.ts"

/** Kept apart from HTTP's: the same key over the other way is another request. */
const ROUTE = "SMTP DATA"

export interface Ack {
  readonly id: string
  readonly created_at: string
  readonly replayed: boolean
}

export interface Sender extends Acceptance.Sender {
  readonly address: string
}

/** A key bound to a domain is told of no message that a key with another binding handed in. */
const claimOf = <E>(
  { account_id, key }: Sender,
  { fingerprint, key: name }: NonNullable<Read["idempotency"]>,
  encode: E,
) => {
  const bound = key?.domain ?? null
  return {
    account_id,
    route: ROUTE,
    key: name,
    fingerprint: bound === null ? fingerprint : `${fingerprint} ${bound}`,
    encode,
  }
}

/** Queues a message in one commit with its body, its volume and its idempotency key, as `POST /email/send` does. */
export const acceptSubmitted = Effect.fn("acceptSubmitted")(function* (
  sender: Sender,
  { idempotency, message }: Read,
): Effect.fn.Return<Ack, Refusal, EventStore> {
  const store = yield* EventStore
  const { account_id, address, key } = sender
  const draft = Acceptance.draft(message)
  const { asked, id } = yield* newEmail
  const request_id = yield* newId("RequestId")
  const encode = (answer: Omit<Ack, "replayed">) => Buffer.from(JSON.stringify(answer))
  const committed = yield* store
    .transact({
      account_id,
      streams: [{ aggregate: Email as never, id, fresh: true }],
      needs: Acceptance.needsOf([draft], asked),
      bytes: Acceptance.bytesOf([draft]),
      ...(idempotency === undefined ? {} : { idempotency: claimOf(sender, idempotency, encode) }),
      decide: (view) =>
        Result.map(Acceptance.accept(view, sender, id, draft, asked), ({ created_at, decision }) => ({
          ...decision,
          answer: { id: id as string, created_at: created_at as string },
        })),
    })
    .pipe(
      Effect.provideService(Provenance, {
        actor: key === null ? { type: "system", id: null } : { type: "api_key", id: key.id },
        request_id,
        correlation_id: request_id,
        causation_id: null,
        address,
      }),
      Effect.catch((error): Effect.Effect<never, Refusal> => {
        if (error._tag === "LeaseLost") return Effect.die(error)
        return Effect.fail(error._tag === "IdempotencyKeyReused" ? new IdempotencyKeyReused() : error)
      }),
    )
  if (committed._tag === "Committed") return { ...committed.answer, replayed: false }
  return { ...(JSON.parse(Buffer.from(committed.kept).toString("utf8")) as Omit<Ack, "replayed">), replayed: true }
})
