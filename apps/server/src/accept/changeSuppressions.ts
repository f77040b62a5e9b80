import type { SuppressionBatchAnswer, SuppressionBatchEntry } from "@waybill/api/groups/Suppressions"
import * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import * as Text from "@waybill/domain/values/Text"
import type { View, Work } from "@waybill/store/commit/Commit"
import { Clock, Effect, Result } from "effect"
import * as NewIds from "../process/NewIds.ts"
import * as RequestCommit from "./RequestCommit.ts"

/** Addresses that are changed in one commit. It writes a call of each webhook for each of them. */
export const ADDRESSES_PER_COMMIT = 50
/** Approximate bytes that the change of one address writes. */
const BYTES_PER_ADDRESS = 512

/** One address of a batch, as the client wrote it. */
interface Requested {
  readonly email: string
  /** Reason of an addition; undefined for a removal. */
  readonly reason: SuppressionState.Reason | undefined
}

interface Checked extends Requested {
  readonly index: number
  readonly address: Result.Result<Address.Address, string>
  readonly id: Id.SuppressionId
}

/**
 * Adds or removes addresses, and returns the work of the last commit, which answers for all. One that is no address is
 * rejected alone.
 */
export const changeSuppressions = Effect.fnUntraced(function* (requested: ReadonlyArray<Requested>) {
  const millis = yield* Clock.currentTimeMillis
  const entries = requested.map((each, index) => ({
    ...each,
    index,
    address: addressOf(each.email),
    id: NewIds.newIdAt("SuppressionId", millis),
  }))
  let [part, rest] = partOf(entries)
  let done = NOTHING_DONE
  while (rest.length > 0) {
    done = yield* RequestCommit.commitRepeatable(workOn(part, done))
    ;[part, rest] = partOf(rest)
  }
  return workOn(part, done)
})

const NOTHING_DONE: SuppressionBatchAnswer = {
  object: "suppression_batch",
  added: 0,
  removed: 0,
  unchanged: 0,
  rejected: 0,
  data: [],
}

const partOf = (entries: ReadonlyArray<Checked>): readonly [ReadonlyArray<Checked>, ReadonlyArray<Checked>] => [
  entries.slice(0, ADDRESSES_PER_COMMIT),
  entries.slice(ADDRESSES_PER_COMMIT),
]

/** Returns the work that changes a part of the addresses. `done` is the answer for those before. */
const workOn = (entries: ReadonlyArray<Checked>, done: SuppressionBatchAnswer): Work<SuppressionBatchAnswer, never> => {
  const ids = new Set(entries.flatMap(({ address }) => (Result.isSuccess(address) ? [streamOf(address.success)] : [])))
  return {
    streams: [...ids].map((id) => ({ aggregate: Suppression, id })),
    bytes: ids.size * BYTES_PER_ADDRESS,
    decide: (view) => Result.succeed(decide(view, entries, done)),
  }
}

const streamOf = Suppression.streamId

const addressOf = (text: string): Result.Result<Address.Address, string> =>
  Text.hasControl(text) ? Result.fail("must not contain control characters") : Address.parseHeld(text.trim())

const decide = (
  view: View,
  entries: ReadonlyArray<Checked>,
  { data: before, object, ...done }: SuppressionBatchAnswer,
) => {
  const now = view.now
  const counts = { ...done }
  const changed = new Map<string, Array<Suppression.Event>>()
  const data = entries.map((entry): SuppressionBatchEntry => {
    const { address, email, id, index, reason } = entry
    if (Result.isFailure(address)) {
      counts.rejected++
      return { index, email, status: "rejected", message: address.failure }
    }
    const stream = streamOf(address.success)
    const earlier = changed.get(stream) ?? []
    const state = earlier.reduce(Suppression.evolve, view.state<Suppression.State>(Suppression, stream))
    const decided: Result.Result<ReadonlyArray<Suppression.Event>, { readonly message: string }> = reason === undefined
      ? Suppression.remove(now)(state)
      : Suppression.add(now, id, address.success, reason, null)(state)
    if (Result.isFailure(decided)) {
      counts.unchanged++
      return { index, email: stream, status: "unchanged", message: decided.failure.message }
    }
    changed.set(stream, [...earlier, ...decided.success])
    const status = reason === undefined ? "removed" : "added"
    counts[status]++
    return { index, email: stream, status, message: null }
  })
  return {
    append: [...changed].map(([id, events]) => ({ aggregate: Suppression, id, events })),
    answer: { object, ...counts, data: [...before, ...data] },
  }
}
