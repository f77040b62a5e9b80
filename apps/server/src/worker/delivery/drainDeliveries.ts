import * as Retry from "@waybill/mail/transport/Retry"
import * as PendingDeliveries from "@waybill/store/facts/PendingDeliveries"
import { Provenance } from "@waybill/store/log/Provenance"
import { Effect } from "effect"
import * as Traces from "../../observability/Traces.ts"
import { deliver, type DeliverOptions } from "./deliver.ts"
import * as Pipelines from "../Pipelines.ts"
import * as Pipeline from "../Pipeline.ts"
import * as SharedMemory from "../SharedMemory.ts"

export interface DeliveryPipelineOptions
  extends Omit<DeliverOptions, "nextAttempt">, Pick<Pipeline.Options<never>, "inFlight" | "stopWithin"> {
  /** Shortened by tests. */
  readonly nextAttempt?: DeliverOptions["nextAttempt"]
}

/** Memory for the bodies of large messages in flight, of which one account gets half. Small ones are bounded by number. */
export const MAX_LARGE_BYTES = 64 * 1024 * 1024

/** Runs a delivery in the trace of the request that queued it, and with that request as the origin of its events. */
const traced = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  row: Pipeline.PipelineJob["row"],
  { origin }: PendingDeliveries.PendingDelivery,
) =>
  Traces.inTraceOf(Effect.provideService(work, Provenance, origin), origin, "delivery", {
    "waybill.account_id": row.account_id,
    "waybill.email_id": row.stream_id,
  })

/** Delivers due messages, each by itself. */
export const drainDeliveries = (options: DeliveryPipelineOptions) =>
  Effect.suspend(() => {
    const withMemory = SharedMemory.make(MAX_LARGE_BYTES)
    const prepare = (jobs: ReadonlyArray<Pipeline.PipelineJob>) =>
      Effect.map(PendingDeliveries.load(jobs.map(({ row }) => row)), (loaded) => (job: Pipeline.PipelineJob) => {
        const pending = loaded.get(job.row.id)
        const work = deliver(job, pending, { ...options, nextAttempt: options.nextAttempt ?? Retry.nextAttempt })
        if (pending === undefined) return work
        return withMemory(job.row.account_id, bytesOf(pending), traced(work, job.row, pending))
      })
    return Pipelines.make(options.inFlight ?? Pipeline.MAX_IN_FLIGHT, (bound) =>
      Pipeline.make({ ...options, kind: "delivery", bound, prepare }),
    )
  })

/** Returns the memory that the delivery still has to reserve; small bodies were read with the claim. */
const bytesOf = ({ content, message }: PendingDeliveries.PendingDelivery): number =>
  content === undefined ? message.accepted.size_bytes : 0
