import { repeatWork } from "@waybill/store/postgres/StoreUnavailable"
import * as Databases from "@waybill/store/routing/Databases"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import type * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { Duration, Effect } from "effect"

/** Delay of a leaf, besides the time of its page. A leaf is in a signed checkpoint within 2 s. */
export const FOLLOW_EVERY = Duration.millis(400)
/** Part of this worker's time that leaves take at most while many events wait. */
export const MAX_SHARE = 0.08
/** Interval at which the keys are looked at while no event comes. */
const SIGN_EVERY_MS = 5_000

/** Builds and signs the tree of the fiber's database until the scope closes. One process at a time builds it. */
export const followLogTree = (baseUrl: string, signers: Effect.Success<typeof LogKeys.makeSigners>) =>
  Effect.gen(function* () {
    const origin = Checkpoints.originOf(baseUrl, yield* Databases.name)
    let signedAt = -Infinity
    let named: string | undefined
    const step = Effect.gen(function* () {
      const before = LogTree.busyMs()
      const { events, isBusy, isFull } = yield* LogTree.step
      const now = yield* MonotonicClock.millis
      if (events > 0 || (!isBusy && now - signedAt >= SIGN_EVERY_MS)) {
        const name = yield* Checkpoints.sign(origin, yield* signers)
        signedAt = now
        if (name !== undefined && name !== named && !Checkpoints.isNameOf(origin, name))
          yield* Effect.logWarning(
            "the log is signed under another name than that of BASE_URL, which another process has",
            {
              origin: name,
              own: origin,
            },
          )
        named = name
      }
      return isFull ? Duration.millis((LogTree.busyMs() - before) * (1 / MAX_SHARE - 1)) : FOLLOW_EVERY
    })
    const failed = "the tree of the log could not be built or signed; it will be tried again"
    yield* repeatWork(step, { failed, retryAfter: FOLLOW_EVERY })
  })
