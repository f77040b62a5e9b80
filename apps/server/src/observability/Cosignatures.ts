import { Context, Metric } from "effect"

const NO_CONTEXT = Context.empty()

const requests = Metric.counter("waybill_log_cosignatures_total", {
  description: "Checkpoints of the log that this process has sent to witnesses, by what became of them",
  incremental: true,
})

/** `refused`: the witness says that the checkpoint does not extend the one that it knows. */
const OUTCOMES = ["signed", "refused", "failed"] as const
export type CosignatureOutcome = (typeof OUTCOMES)[number]

/** All series exist from the start, so that the first increase of each is seen. */
const series = new Map<string, Metric.Counter<number>>(
  OUTCOMES.map((outcome) => {
    const one = Metric.withAttributes(requests, { outcome })
    one.updateUnsafe(0, NO_CONTEXT)
    return [outcome, one]
  }),
)

export const answered = (outcome: CosignatureOutcome): void => series.get(outcome)?.updateUnsafe(1, NO_CONTEXT)
