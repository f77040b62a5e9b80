import { CurrentKey } from "@waybill/api/Authorization"
import { IdempotencyKeyReused } from "@waybill/api/errors/RequestRefusal"
import * as KeptAnswers from "@waybill/store/idempotency/KeptAnswers"
import { Effect } from "effect"
import { type Call, claimOf, fresh, replayed } from "./commitRequest.ts"
import { now } from "../operate/fresh.ts"

/** For what writes rows and no events: the same promise as `once`, kept by a transaction around the work itself. */
export const onceWith = Effect.fnUntraced(function* <A, E, R>(call: Call, work: Effect.Effect<A, E, R>) {
  const claim = claimOf(yield* CurrentKey, call)
  if (claim === undefined) return fresh(yield* work)
  const at = yield* now
  const done = yield* KeptAnswers.run(claim, at, work, (answer) => Buffer.from(JSON.stringify(answer)))
  if (done._tag === "Fresh") return fresh(done.answer)
  if (done.fingerprint !== claim.fingerprint) return yield* new IdempotencyKeyReused()
  return replayed(JSON.parse(Buffer.from(done.kept).toString("utf8")) as A)
})
