import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as ApiError from "@waybill/api/errors/ApiError"
import type { Acknowledgement } from "@waybill/api/groups/Emails"
import { type BatchAnswer, MAX_BATCH } from "@waybill/api/schemas/send/Batch"
import * as Turn from "@waybill/runtime/flow/Turn"
import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import { Effect, Result } from "effect"
import { decodeBody } from "../decodeBody.ts"
import { entriesOf } from "../entriesOf.ts"
import * as NewIds from "../../process/NewIds.ts"
import { Instance } from "../../settings/Instance.ts"
import type { Route } from "../Door.ts"
import * as AbsentFields from "../lenient/AbsentFields.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import { errorOf } from "./errorOf.ts"
import * as Accepted from "./Accepted.ts"
import * as InvalidAddress from "./InvalidAddress.ts"
import * as PostmarkMessage from "./PostmarkMessage.ts"
import * as Refusals from "./Refusals.ts"
import * as Spelling from "./Spelling.ts"

const decode = Effect.fnUntraced(function* (body: unknown) {
  const message = yield* decodeBody(PostmarkMessage.Message, PostmarkMessage.inCase(body))
  const details = PostmarkMessage.problemsOf(message)
  if (details.length > 0) return yield* new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
  return message
})

/** Checks a message as a send does. Without an account, any domain may be its sender's. */
const check = Effect.fnUntraced(function* (body: unknown) {
  const message = yield* decode(body)
  const { tracks } = yield* Instance
  const native = AbsentFields.withoutUndefined(PostmarkMessage.toNative(message, tracks))
  const spelling = Spelling.of(message)
  yield* Effect.mapError(
    PostmarkMessage.takesCopiesAlone(decodeBody(EmailMessage, native)),
    ({ details, more = 0, reason }) =>
      new RequestRefusal.InvalidRequest({
        reason,
        details: InvalidAddress.told(
          message,
          details.map((each) => ({ ...each, path: spelling(each.path) })),
        ),
        more,
      }),
  )
  const { at, id } = yield* NewIds.newEmail
  return Accepted.of(message, id, at, "Test job accepted")
})

const send: Route = {
  method: "POST",
  path: "/email",
  endpoint: "emails.send",
  body: PostmarkMessage.Message,
  bucket: "send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const message = yield* decode(body)
    const { tracks } = yield* Instance
    const { created_at, id } = yield* Native.call<Acknowledgement>({
      method: "POST",
      path: "/v1/email/send",
      body: PostmarkMessage.toNative(message, tracks),
      headers: Native.idempotency(headers),
    }).pipe(
      PostmarkMessage.takesCopiesAlone,
      Respelling.changed((error) => Spelling.refusal(message, error)),
    )
    return Native.ok(yield* Accepted.answer(message, id, created_at))
  }),
  trial: ({ body }) => Effect.map(check(body), Native.ok),
}

/** Maximum number of messages in a batch with the test token, which anybody has: each costs a millisecond or two. */
export const MAX_TRIAL_MESSAGES = 10

const messagesOf = (body: unknown, most: number) =>
  Array.isArray(body) && body.length > most
    ? Effect.fail(new Refusals.TooManyMessages({ most }))
    : entriesOf(body, most, "messages")

/**
 * Accepts or refuses each message separately, and answers 200 with a result for each. A batch that fails midway is repeated safely by
 * its idempotency key.
 */
const batch: Route = {
  method: "POST",
  path: "/email/batch",
  endpoint: "emails.sendBatch",
  body: PostmarkMessage.Batch,
  bucket: "send",
  handle: Effect.fnUntraced(function* ({ body, headers }) {
    const bodies = yield* messagesOf(body, PostmarkMessage.MAX_MESSAGES)
    const decoded = yield* Effect.forEach(bodies, (each) =>
      Effect.result(Effect.andThen(Effect.yieldNow, decode(each))),
    )
    const messages = decoded.flatMap((each) => (Result.isSuccess(each) ? [each.success] : []))
    const { tracks } = yield* Instance
    const results: Array<BatchAnswer["data"][number]> = []
    for (let start = 0; start < messages.length; start += MAX_BATCH) {
      const part = messages.slice(start, start + MAX_BATCH)
      const { data } = yield* Native.call<BatchAnswer>({
        method: "POST",
        path: "/v1/email/send/batch",
        body: { emails: part.map((message) => PostmarkMessage.toNative(message, tracks)), mode: "permissive" },
        headers: Native.idempotency(headers, start / MAX_BATCH),
      }).pipe(PostmarkMessage.takesCopiesAlone)
      results.push(...data)
    }
    const answers = yield* Effect.forEach(messages, (message, nth) => resultOf(message, results[nth]))
    let next = 0
    return Native.ok(decoded.map((each) => (Result.isSuccess(each) ? answers[next++] : refused(each.failure))))
  }),
  trial: Effect.fnUntraced(function* ({ body }) {
    const bodies = yield* messagesOf(body, MAX_TRIAL_MESSAGES)
    const results = yield* Effect.forEach(bodies, (each) =>
      Effect.andThen(
        Turn.next,
        Effect.catch(check(each), (refusal) => Effect.succeed(refused(refusal))),
      ),
    )
    return Native.ok(results)
  }),
}

const resultOf = (message: PostmarkMessage.Message, result: BatchAnswer["data"][number] | undefined) =>
  result?.error
    ? Effect.succeed(errorOf(400, Spelling.refusal(message, result.error, spellingInBatch(message))).body)
    : Accepted.answer(message, result?.id ?? "", result?.created_at ?? "")

/** A refusal within a batch may begin with the message's place in it. */
const spellingInBatch = (message: PostmarkMessage.Message): Respelling.Spelling => {
  const spelling = Spelling.of(message)
  return (path) => spelling(path.replace(/^emails\[\d+\]\.?/u, ""))
}

const refused = (refusal: RequestRefusal.InvalidRequest) => errorOf(400, ApiError.toBody(refusal, "").error).body

export const routes: ReadonlyArray<Route> = [send, batch]
