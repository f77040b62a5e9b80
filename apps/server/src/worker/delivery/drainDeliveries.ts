import * as Retry from "@waybill/mail/transport/Retry"
import * as PendingDeliveries from "@waybill/store/outbox/PendingDeliveries"
import { Provenance } from "@waybill/store/commit/Provenance"
import { Effect } from "effect"
import * as Traces from "../../observability/Traces.ts"
import { deliver, type Options as DeliverOptions } from "./deliver.ts"
import * as Pipeline from "../Pipeline.ts"
import * as SharedMemory from "../SharedMemory.ts"

export interface Options
  extends Omit<DeliverOptions, "nextAttempt">, Pick<Pipeline.Options<never>, "inFlight" | "stopWithin"> {
  /** Tests don't wait for minutes. */
  readonly nextAttempt?: DeliverOptions["nextAttempt"]
}

/** What the bodies of large messages under way may take of memory; small ones are bounded by their number. One account alone
 * gets half of it. */
export const MAX_LARGE_BYTES = 64 * 1024 * 1024

/** Facts and traces of a delivery say to which request they belong. */
const followed = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  row: Pipeline.Job["row"],
  { origin }: PendingDeliveries.Pending,
) =>
  Traces.following(Effect.provideService(work, Provenance, origin), origin, "delivery", {
    "waybill.account_id": row.account_id,
    "waybill.email_id": row.stream_id,
  })

/** Delivers what is due, each message by itself. */
export const drainDeliveries = (options: Options) =>
  Effect.suspend(() => {
    const withRoom = SharedMemory.make(MAX_LARGE_BYTES)
    return Pipeline.make({
      ...options,
      kind: "delivery",
      prepare: (jobs) =>
        Effect.map(PendingDeliveries.load(jobs.map(({ row }) => row)), (loaded) =>
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
const bytesOf = ({ content, message }: PendingDeliveries.Pending): number =>
  content === undefined ? message.accepted.size_bytes : 0
