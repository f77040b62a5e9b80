import type { Acknowledgement } from "@waybill/api/groups/Emails"
import { type BatchAnswer, MAX_BATCH } from "@waybill/api/schemas/send/Batch"
import { RefusedInBatch } from "@waybill/api/errors/RefusedInBatch"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { LruCache } from "@waybill/runtime/collections/LruCache"
import * as Turn from "@waybill/runtime/flow/Turn"
import { Effect, Exit } from "effect"
import { HttpIncomingMessage } from "effect/http"
import { randomUUID } from "node:crypto"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as DryRun from "../../accept/DryRun.ts"
import { accountOf } from "../../requests/accountOf.ts"
import { Admitted } from "../../requests/Admitted.ts"
import * as HttpSettings from "../../settings/HttpSettings.ts"
import { Instance } from "../../settings/Instance.ts"
import { decodeBody } from "../decodeBody.ts"
import { type DoorRequest, NativeError, type Route } from "../Door.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import { route } from "../route.ts"
import * as Batches from "./Batches.ts"
import * as SendGridMessage from "./SendGridMessage.ts"
import * as Substitutions from "./Substitutions.ts"
import * as Translation from "./Translation.ts"

/** Maximum number of recipients of all personalizations; as many as a batch of the largest plan has. */
export const MAX_RECIPIENTS = 10_000

/** Each personalization is an email of its own. Several are accepted together or not at all. */
const send = route(
  "POST /v3/mail/send",
  { endpoint: "emails.send", ownBody: SendGridMessage.Message },
  function* ({ body, headers: received }) {
    if (Translation.recipientsIn(body) > MAX_RECIPIENTS)
      return yield* Native.refuse("personalizations", `must have at most ${MAX_RECIPIENTS} recipients together`)
    const message = yield* decodeBody(SendGridMessage.Message, body)
    const { personalizations } = message
    if (message.batch_id !== undefined) yield* Batches.check(message.batch_id)
    if (personalizations.length === 0) return yield* Native.refuse("personalizations", "must not be empty")
    const part = yield* partsOf(message)
    const isDryRun = message.mail_settings?.sandbox_mode?.enable === true
    if (isDryRun || personalizations.length > MAX_BATCH) {
      // One dry run of all, so that the last batch is refused before the first is accepted.
      const dryRun = new DryRun.DryRun()
      yield* Effect.provideService(inBatches(message, part, received), DryRun.Current, dryRun)
    }
    if (isDryRun) return { status: 200, body: undefined }
    if (personalizations.length === 1) {
      const [email] = yield* part(0)
      const { id } = yield* Native.post<Acknowledgement>("/v1/email/send", received, email).pipe(
        Respelling.respelled(Translation.spellingOf(message)),
      )
      return accepted([id])
    }
    return accepted(
      yield* personalizations.length <= MAX_BATCH
        ? inBatches(message, part, received)
        : completable(received, (headers) => inBatches(message, part, headers)),
    )
  },
)

type Part = Effect.Success<ReturnType<typeof partsOf>>

/** Parts that the personalizations of a message share. */
interface Shared {
  readonly message: SendGridMessage.Message
  readonly files: ReturnType<typeof Translation.filesOf>
  readonly tracks: boolean
  readonly search: Exclude<ReturnType<typeof Substitutions.make>, string>
  /** Maximum bytes of a body that our own API takes. */
  readonly most: number
}

/**
 * Returns what makes the emails of the batch that begins at a personalization. The content that personalizations share is
 * copied for each; a batch whose copies would be larger than a body that our own API takes is refused before it is made.
 */
const partsOf = Effect.fnUntraced(function* (message: SendGridMessage.Message) {
  const { personalizations } = message
  const most = Number((yield* HttpIncomingMessage.MaxBodySize) ?? HttpSettings.DEFAULT_MAX_BODY_BYTES)
  const copies = Math.min(personalizations.length, MAX_BATCH)
  if (copies > 1 && Translation.sharedBytes(message) * copies > most) return yield* TOO_LARGE
  const search = Substitutions.make(
    personalizations.map(({ substitutions }) => substitutions),
    most,
  )
  if (typeof search === "string") return yield* Native.refuse("personalizations", search)
  const { tracks } = yield* Instance
  const files = Translation.filesOf(message)
  return (start: number) => partAt({ message, files, tracks, search, most }, start)
})

/** Makes the emails of the batch that begins at a personalization. */
const partAt = Effect.fnUntraced(function* ({ files, message, most, search, tracks }: Shared, start: number) {
  const emails: Array<ReturnType<typeof Translation.toNative>> = []
  let chars = 0
  for (const each of message.personalizations.slice(start, start + MAX_BATCH)) {
    const email = yield* Effect.try({
      try: () => Translation.toNative(message, each, files, tracks, search),
      catch: (error) => {
        if (!(error instanceof Substitutions.Unreplaceable)) throw error
        return error.reason === "payload_too_large" ? TOO_LARGE : Native.refuse("personalizations", error.message)
      },
    })
    chars += "html" in email ? (email.html?.length ?? 0) + (email.text?.length ?? 0) : 0
    if (each.substitutions !== undefined && chars > most) return yield* TOO_LARGE
    emails.push(email)
  }
  return emails
})

/** Calls our own API for one batch after the other, and returns the ids of all emails. */
const inBatches = Effect.fnUntraced(function* (
  message: SendGridMessage.Message,
  part: Part,
  headers: DoorRequest["headers"],
) {
  const ids: Array<string> = []
  for (let start = 0; start < message.personalizations.length; start += MAX_BATCH) {
    const emails = yield* part(start)
    const path = "/v1/email/send/batch"
    const { data } = yield* Native.post<BatchAnswer>(path, headers, { emails }, start / MAX_BATCH).pipe(
      numberedFrom(start),
      Respelling.respelled(Translation.spellingOf(message, start)),
    )
    for (const { id } of data) if (id !== null) ids.push(id)
    yield* Turn.next
  }
  return ids
})

/** Counts the message that a refusal names from the first of the request. */
const numberedFrom = (start: number) =>
  Respelling.changed(({ details, refusal }) => {
    if (!(refusal instanceof RefusedInBatch)) return new NativeError({ refusal, details })
    const counted = new RefusedInBatch({ index: refusal.index + start, refusal: refusal.refusal })
    return new NativeError({ refusal: counted, details })
  })

/** Maximum number of requests remembered that ended between two batches. */
export const MAX_UNFINISHED = 1_000

/** Idempotency keys of requests that ended between two batches, by account and body. */
const unfinished = new LruCache<string, string>({ maxEntries: MAX_UNFINISHED })

/**
 * Accepts the batches of one request. What the service refuses was refused by the dry run; but the database may fail
 * between two batches, or the account change. Then the answer is an error, the batches before it are accepted, and the same
 * request again accepts the others and none twice: by its idempotency key or, if it has none, by one that this process
 * remembers.
 */
const completable = Effect.fnUntraced(function* <E, R>(
  received: DoorRequest["headers"],
  batches: (headers: DoorRequest["headers"]) => Effect.Effect<ReadonlyArray<string>, E, R>,
) {
  if (received["idempotency-key"] !== undefined) return yield* batches(received)
  const request = `${accountOf(yield* Admitted)} ${(yield* RequestCommit.TranslatedRequest)?.hashOfBody()}`
  const key = unfinished.get(request) ?? randomUUID()
  return yield* Effect.onExit(batches({ "idempotency-key": key }), (exit) =>
    Effect.sync(() => (Exit.isSuccess(exit) ? unfinished.delete(request) : unfinished.set(request, key))),
  )
})

const TOO_LARGE = new RequestRefusal.InvalidRequest({
  reason: "payload_too_large",
  details: [
    {
      path: "personalizations",
      message: "make the request too large, because each gets a copy of the content; send fewer at once",
    },
  ],
})

/**
 * The header of SendGrid has one id. The ids of all emails of a request are in a header of our own, if they are at most those of
 * one batch: more would be longer than the headers that clients read.
 */
const accepted = (ids: ReadonlyArray<string>) => ({
  status: 202,
  body: undefined,
  headers: {
    "x-message-id": ids[0] ?? "",
    ...(ids.length > 1 && ids.length <= MAX_BATCH ? { "x-message-ids": ids.join(",") } : {}),
  },
})

export const routes: ReadonlyArray<Route> = [send]
