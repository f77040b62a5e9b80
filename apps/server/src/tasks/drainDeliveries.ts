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
    const room = yield* Semaphore.make(MAX_LARGE_BYTES / KIB)
    const withRoom = (pending: Pending.Pending | undefined) => {
      const bytes = pending === undefined || pending.content !== undefined ? 0 : pending.message.accepted.size_bytes
      return room.withPermits(Math.ceil(Math.min(MAX_LARGE_BYTES, bytes) / KIB))
    }
    return yield* Pipeline.make({
      ...options,
      kind: "delivery",
      prepare: (jobs) =>
        Effect.map(Pending.load(jobs.map(({ row }) => row)), (loaded) =>
          jobs.map((job) => {
            const pending = loaded.get(job.row.id)
            const work = deliver(job, pending, { ...options, nextAttempt: options.nextAttempt ?? Retry.nextAttempt })
            return withRoom(pending)(pending === undefined ? work : followed(work, job.row, pending))
          }),
        ),
    })
  })
