import { Context, Metric } from "effect"

const NO_CONTEXT = Context.empty()

const reports = Metric.counter("waybill_domain_reports_total", {
  description: "Aggregate reports of DMARC and TLS that came to this process, by what became of them",
  incremental: true,
})

/** `recorded` reports are verified. All but the first two changed nothing. */
const OUTCOMES = [
  "recorded",
  "unverified",
  "duplicate",
  "unknown_domain",
  "too_many",
  "too_old",
  "bad_period",
  "unreadable",
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** All series exist from the start, so that the first increase of each is seen. */
const series = new Map<string, Metric.Counter<number>>(
  OUTCOMES.map((outcome) => {
    const one = Metric.withAttributes(reports, { outcome })
    one.updateUnsafe(0, NO_CONTEXT)
    return [outcome, one]
  }),
)

export const isOutcome = (word: string): word is Outcome => series.has(word)

export const received = (outcome: Outcome): void => series.get(outcome)?.updateUnsafe(1, NO_CONTEXT)
