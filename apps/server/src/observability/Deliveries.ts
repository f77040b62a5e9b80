import type * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as SiteRules from "@waybill/mail/smtp/SiteRules"
import { Context, Metric } from "effect"
import { isIP } from "node:net"

/** Sites that get a series of their own in one process; who comes later is counted together. */
export const MAX_SITES = 50

const NOWHERE = Context.empty()

const outcomes = Metric.counter("waybill_delivery_outcomes_total", {
  description: "What attempts came to, one a recipient, by outcome, class of the answer and receiving site",
  incremental: true,
})
const answers = Metric.histogram("waybill_delivery_attempt_seconds", {
  description: "How long receiving servers took over an attempt",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
})
const ages = Metric.histogram("waybill_delivery_age_seconds", {
  description: "From when a message was to leave until the receiving server had taken it",
  boundaries: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400],
})

const sites = new Set<string>()

/** A provider by its own name, others by the last two labels of the server's; not exact, and meant for the eye. */
export const siteOf = (mx: string | null): string => {
  if (mx === null) return "none"
  const host = mx.toLowerCase().replace(/\.$/u, "")
  const provider = SiteRules.RULES.find(({ suffix }) => host === suffix || host.endsWith(`.${suffix}`))?.suffix
  const site = provider ?? (isIP(host) === 0 ? host.split(".").slice(-2).join(".") : "address")
  if (!sites.has(site)) {
    if (sites.size >= MAX_SITES) return "other"
    sites.add(site)
  }
  return site
}

const series = new Map<string, Metric.Counter<number>>()

/** Outcomes that are in the log. `waited_ms` is the time since the message was to leave. */
export const settled = (learnt: ReadonlyArray<DeliveryOutcome.Outcome>, waited_ms: number): void => {
  for (const outcome of learnt) {
    const words = "words" in outcome ? outcome.words : undefined
    const attributes = {
      outcome: outcome._tag.toLowerCase(),
      class: words?.category ?? "none",
      site: siteOf(words?.mx ?? null),
    }
    const name = `${attributes.outcome} ${attributes.class} ${attributes.site}`
    const counter = series.get(name) ?? Metric.withAttributes(outcomes, attributes)
    series.set(name, counter)
    counter.updateUnsafe(1, NOWHERE)
    if (words?.duration_ms !== null && words?.duration_ms !== undefined) {
      answers.updateUnsafe(words.duration_ms / 1000, NOWHERE)
    }
    if (outcome._tag === "Delivered" || outcome._tag === "Sent") ages.updateUnsafe(waited_ms / 1000, NOWHERE)
  }
}
