import { CurrentCell } from "@waybill/store/routing/CurrentCell"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as LogTree from "@waybill/store/transparency/LogTree"
import { verify } from "@waybill/verify/verify"
import { Effect } from "effect"
import { LOG_URL } from "./HttpWorld.ts"

/** Appends all events to the tree of the fiber's cell and signs it, as a worker does. */
export const buildLog = Effect.gen(function* () {
  yield* Effect.repeat(LogTree.step, { until: ({ events, isFull }) => !isFull && events === 0 })
  const signers = yield* LogKeys.makeSigners
  yield* Checkpoints.sign(Checkpoints.originOf(LOG_URL, yield* CurrentCell), yield* signers)
})

/** Returns the step at which a receipt fails; undefined if it proves what it says. */
export const problemOf = (receipt: object) =>
  Effect.promise(
    async () => (await verify(JSON.stringify(receipt))).steps.find(({ result }) => result === "failed")?.title,
  )
