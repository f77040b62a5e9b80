import * as Retry from "@waybill/mail/Retry"
import * as Pending from "@waybill/store/Pending"
import { Effect } from "effect"
import { deliver, type Options as DeliverOptions } from "./deliver.ts"
import * as Pipeline from "./Pipeline.ts"

export interface Options
  extends Omit<DeliverOptions, "nextAttempt">, Pick<Pipeline.Options<never>, "inFlight" | "stopWithin"> {
  /** Tests don't wait for minutes. */
  readonly nextAttempt?: DeliverOptions["nextAttempt"]
}

/** Delivers what is due, each message by itself. */
export const drainDeliveries = (options: Options) =>
  Pipeline.make({
    ...options,
    kind: "delivery",
    prepare: (jobs) =>
      Effect.map(Pending.load(jobs.map(({ row }) => row)), (pending) =>
        jobs.map((job) =>
          deliver(job, pending.get(job.row.id), { ...options, nextAttempt: options.nextAttempt ?? Retry.nextAttempt }),
        ),
      ),
  })
