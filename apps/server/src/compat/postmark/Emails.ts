import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Turn from "@waybill/runtime/flow/Turn"
import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import { Effect } from "effect"
import { decodeBody } from "../decodeBody.ts"
import * as NewIds from "../../process/NewIds.ts"
import { Instance } from "../../settings/Instance.ts"
import type { Route } from "../Door.ts"
import * as AbsentFields from "../lenient/AbsentFields.ts"
import * as Native from "../Native.ts"
import { route } from "../route.ts"
import { errorOf } from "./errorOf.ts"
import * as Accepted from "./Accepted.ts"
import * as PostmarkMessage from "./PostmarkMessage.ts"
import * as Sends from "./Sends.ts"
import * as Spelling from "./Spelling.ts"

const decode = Effect.fnUntraced(function* (body: unknown) {
  const message = yield* decodeBody(PostmarkMessage.Message, PostmarkMessage.inCase(body))
  const details = PostmarkMessage.problemsOf(message)
  if (details.length > 0) return yield* new RequestRefusal.InvalidRequest({ reason: "validation_failed", details })
  const native = (tracks: boolean) => PostmarkMessage.toNative(message, tracks)
  return { message, native, spelling: Spelling.of(message) } satisfies Sends.Decoded
})

/** Checks a message as a send does. Without an account, any domain may be its sender's. */
const check = Effect.fnUntraced(function* (body: unknown) {
  const { message, native, spelling } = yield* decode(body)
  const { tracks } = yield* Instance
  const sent = AbsentFields.withoutUndefined(native(tracks))
  yield* Effect.mapError(PostmarkMessage.takesCopiesAlone(decodeBody(EmailMessage, sent)), (refusal) =>
    Spelling.refusal(message, refusal, spelling),
  )
  const { at, id } = yield* NewIds.newEmail
  return Accepted.of(message, id, at, "Test job accepted")
})

const send = route(
  "POST /email",
  {
    endpoint: "emails.send",
    ownBody: PostmarkMessage.Message,
    trial: ({ body }) => Effect.map(check(body), Native.ok),
  },
  function* ({ body, headers }) {
    return yield* Sends.one(yield* decode(body), headers)
  },
)

/** Maximum number of messages in a batch with the test token, which anybody has: each costs a millisecond or two. */
export const MAX_TRIAL_MESSAGES = 10

const checkBatch = Effect.fnUntraced(function* (body: unknown) {
  const bodies = yield* Sends.entries(body, MAX_TRIAL_MESSAGES)
  const results = yield* Effect.forEach(bodies, (each) =>
    Effect.andThen(
      Turn.next,
      Effect.catch(check(each), (refusal) => Effect.succeed(errorOf(refusal).body)),
    ),
  )
  return Native.ok(results)
})

const batch = route(
  "POST /email/batch",
  { endpoint: "emails.sendBatch", ownBody: PostmarkMessage.Batch, trial: ({ body }) => checkBatch(body) },
  function* ({ body, headers }) {
    return yield* Sends.many(yield* Sends.entries(body), decode, headers)
  },
)

export const routes: ReadonlyArray<Route> = [send, batch]
