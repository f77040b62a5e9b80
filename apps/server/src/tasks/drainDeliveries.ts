import * as Retry from "@waybill/mail/Retry"
import * as Pending from "@waybill/store/Pending"
import { Provenance } from "@waybill/store/Provenance"
import { Effect, Semaphore } from "effect"
import * as Traces from "../observability/Traces.ts"
import { deliver, type Options as DeliverOptions } from "./deliver.ts"
import * as Pipeline from "./Pipeline.ts"

export interface Options
  extends Omit<DeliverOptions, "nextAttempt">, Pick<Pipeline.Options<never>, "inFlight" | "stopWithin"> {
  /** Tests don't wait for minutes. */
  readonly nextAttempt?: DeliverOptions["nextAttempt"]
}

/** What the bodies of large messages under way may take of memory; small ones are bounded by their number. */
export const MAX_LARGE_BYTES = 64 * 1024 * 1024
/** One account's share of it: its servers may take minutes for each, and others' large messages must not wait for them. */
export const MAX_LARGE_BYTES_PER_ACCOUNT = MAX_LARGE_BYTES / 2
const KIB = 1024

/** Facts and traces of a delivery say to which request they belong. */
const followed = <A, E, R>(work: Effect.Effect<A, E, R>, row: Pipeline.Job["row"], { origin }: Pending.Pending) =>
  Traces.following(Effect.provideService(work, Provenance, origin), origin, "delivery", {
    "waybill.account_id": row.account_id,
    "waybill.email_id": row.stream_id,
  })

/** Delivers what is due, each message by itself. */
export const drainDeliveries = (options: Options) =>
  Effect.gen(function* () {
    const withRoom = yield* makeRoom
    return yield* Pipeline.make({
      ...options,
      kind: "delivery",
      prepare: (jobs) =>
        Effect.map(Pending.load(jobs.map(({ row }) => row)), (loaded) =>
          jobs.map((job) => {
            const pending = loaded.get(job.row.id)
            const work = deliver(job, pending, { ...options, nextAttempt: options.nextAttempt ?? Retry.nextAttempt })
            if (pending === undefined) return work
            return withRoom(job.row.account_id, bytesOf(pending), followed(work, job.row, pending))
          }),
        ),
    })
  })

/** Small bodies have been read with their claim. */
const bytesOf = ({ content, message }: Pending.Pending): number =>
  content === undefined ? message.accepted.size_bytes : 0

/** First a place among an account's own, then one among all: who waits for the second keeps nobody else from it. */
const makeRoom = Effect.gen(function* () {
  const room = yield* Semaphore.make(MAX_LARGE_BYTES / KIB)
  const shares = new Map<string, { readonly room: Semaphore.Semaphore; users: number }>()
  const permits = (bytes: number, most: number) => Math.ceil(Math.min(most, bytes) / KIB)
  return <A, E, R>(account: string, bytes: number, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    if (bytes === 0) return work
    const inRoom = room.withPermits(permits(bytes, MAX_LARGE_BYTES))(work)
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const share = shares.get(account) ?? {
          room: Semaphore.makeUnsafe(MAX_LARGE_BYTES_PER_ACCOUNT / KIB),
          users: 0,
        }
        share.users += 1
        shares.set(account, share)
        return share
      }),
      (share) => share.room.withPermits(permits(bytes, MAX_LARGE_BYTES_PER_ACCOUNT))(inRoom),
      (share) =>
        Effect.sync(() => {
          share.users -= 1
          if (share.users === 0) shares.delete(account)
        }),
    )
  }
})
