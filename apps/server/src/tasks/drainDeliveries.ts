import * as Retry from "@waybill/mail/Retry"
import * as Pending from "@waybill/store/Pending"
import { Effect } from "effect"
import { deliver, type Options as DeliverOptions } from "./deliver.ts"
import * as Pipeline from "./Pipeline.ts"

export interface Options extends Omit<DeliverOptions, "nextAttempt"> {
  /** Tests don't wait for minutes. */
  readonly nextAttempt?: DeliverOptions["nextAttempt"]
  readonly inFlight?: number
}

/** Delivers what is due, each message by itself. */
export const drainDeliveries = (options: Options) =>
  Pipeline.make({
    kind: "delivery",
    ...(options.inFlight === undefined ? {} : { inFlight: options.inFlight }),
    prepare: (jobs) =>
      Effect.map(Pending.load(jobs.map(({ row }) => row)), (pending) =>
        jobs.map((job) =>
          deliver(job, pending.get(job.row.id), { ...options, nextAttempt: options.nextAttempt ?? Retry.nextAttempt }),
        ),
      ),
  })
