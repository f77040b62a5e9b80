import { ApiError } from "@waybill/api/errors/ApiError"
import type { Acknowledgement } from "@waybill/api/groups/Emails"
import { type BatchAnswer, MAX_BATCH } from "@waybill/api/schemas/send/Batch"
import type { Refusal } from "@waybill/domain/values/Refusal"
import { Effect, Result } from "effect"
import type * as RequestCommit from "../../accept/RequestCommit.ts"
import { Instance } from "../../settings/Instance.ts"
import { type DoorRequest, type DoorServices, NativeError } from "../Door.ts"
import { entriesOf } from "../entriesOf.ts"
import * as Native from "../Native.ts"
import * as Respelling from "../Respelling.ts"
import * as Accepted from "./Accepted.ts"
import { errorOf } from "./errorOf.ts"
import * as PostmarkMessage from "./PostmarkMessage.ts"
import * as Refusals from "./Refusals.ts"
import * as Spelling from "./Spelling.ts"

/** A message that is right by itself. */
export interface Decoded {
  readonly message: PostmarkMessage.Message
  /** Returns the body of our own send, with a setting for tracking or without. */
  readonly native: (tracks: boolean) => object
  readonly spelling: Respelling.Spelling
}

/** Sends a message. */
export const one = Effect.fnUntraced(function* (
  { message, native, spelling }: Decoded,
  headers: DoorRequest["headers"],
) {
  const { tracks } = yield* Instance
  const { answer, verdicts } = yield* Native.send<Acknowledgement>("/v1/email/send", headers, native(tracks)).pipe(
    PostmarkMessage.takesCopiesAlone,
    Respelling.changed((refusal) => Spelling.refusal(message, refusal, spelling)),
  )
  return Native.ok(Accepted.answer(message, answer.id, answer.created_at, suppressedIn(verdicts?.[0])))
})

/** Returns the messages of a batch, which has at most so many. */
export const entries = (body: unknown, most = PostmarkMessage.MAX_MESSAGES) =>
  Array.isArray(body) && body.length > most
    ? Effect.fail(new Refusals.TooManyMessages({ most }))
    : entriesOf(body, most, "messages")

/**
 * Accepts or refuses each message separately, and answers 200 with a result for each. A batch that fails midway is repeated safely by
 * its idempotency key.
 */
export const many = Effect.fnUntraced(function* (
  bodies: ReadonlyArray<unknown>,
  decode: (body: unknown) => Effect.Effect<Decoded, Refusal, DoorServices>,
  headers: DoorRequest["headers"],
) {
  const decoded = yield* Effect.forEach(bodies, (each) => Effect.result(Effect.andThen(Effect.yieldNow, decode(each))))
  const whole = decoded.flatMap((each) => (Result.isSuccess(each) ? [each.success] : []))
  const { tracks } = yield* Instance
  const answers: Array<object> = []
  for (let start = 0; start < whole.length; start += MAX_BATCH) {
    const part = whole.slice(start, start + MAX_BATCH)
    const emails = part.map(({ native }) => native(tracks))
    const body = { emails, mode: "permissive" }
    const path = "/v1/email/send/batch"
    const { answer, verdicts } = yield* Native.send<BatchAnswer>(path, headers, body, start / MAX_BATCH).pipe(
      PostmarkMessage.takesCopiesAlone,
    )
    for (const [nth, each] of part.entries()) answers.push(resultOf(each, answer.data[nth], verdicts?.[nth]))
  }
  let next = 0
  return Native.ok(decoded.map((each) => (Result.isSuccess(each) ? answers[next++] : errorOf(each.failure).body)))
})

type ItemResult = BatchAnswer["data"][number]
type Verdict = RequestCommit.Verdicts[number] | undefined

/** The answer to a repeated request does not name the suppressed recipients. */
const suppressedIn = (verdict: Verdict) => (verdict && Result.isSuccess(verdict) ? verdict.success.suppressed : [])

/** A refusal of a repeated answer is what that says of it: the answer was kept as JSON. */
const resultOf = ({ message, spelling }: Decoded, result: ItemResult | undefined, verdict: Verdict): object => {
  if (!result?.error) return Accepted.answer(message, result?.id ?? "", result?.created_at ?? "", suppressedIn(verdict))
  const { error } = result
  const refusal = verdict && Result.isFailure(verdict) ? verdict.failure : undefined
  const details = refusal?.details?.slice(0, error.details.length) ?? error.details
  const refused = new NativeError({ refusal: refusal ?? new ApiError(422, { error }), details })
  return errorOf(Spelling.refusal(message, refused, spelling)).body as object
}
