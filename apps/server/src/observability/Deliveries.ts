import type * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as SiteRules from "@waybill/mail/site/SiteRules"
import { Context, Metric } from "effect"
import { isIP } from "node:net"

/** Maximum number of receiving sites with a series of their own in a process; others are counted together. */
export const MAX_SITES = 50

const EMPTY = Context.empty()

const outcomes = Metric.counter("waybill_delivery_outcomes_total", {
  description: "Outcomes of attempts, one per recipient, by outcome, class of the reply and receiving site",
  incremental: true,
})
const answers = Metric.histogram("waybill_delivery_attempt_seconds", {
  description: "Duration of attempts at receiving servers",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
})
const ages = Metric.histogram("waybill_delivery_age_seconds", {
  description: "Time from when a message was due until the receiving server accepted it",
  boundaries: [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400],
})

const sites = new Set<string>()

/** Returns the provider that rules name for a server, or else the last two labels of its name. */
export const siteOf = (mx: string | null, rules: ReadonlyArray<SiteRules.Rule>): string => {
  if (mx === null) return "none"
  const host = mx.toLowerCase().replace(/\.$/u, "")
  const provider = SiteRules.providerOf(host, rules)
  const site = provider ?? (isIP(host) === 0 ? host.split(".").slice(-2).join(".") : "address")
  if (!sites.has(site)) {
    if (sites.size >= MAX_SITES) return "other"
    sites.add(site)
  }
  return site
}

const series = new Map<string, Metric.Counter<number>>()

/** Counts committed outcomes. `waited_ms` is the time since the message was due. */
export const observe = (
  committed: ReadonlyArray<DeliveryOutcome.Outcome>,
  waited_ms: number,
  rules: ReadonlyArray<SiteRules.Rule>,
): void => {
  for (const outcome of committed) {
    const reply = "words" in outcome ? outcome.words : undefined
    const attributes = {
      outcome: outcome._tag.toLowerCase(),
      class: reply?.category ?? "none",
      site: siteOf(reply?.mx ?? null, rules),
    }
    const name = `${attributes.outcome} ${attributes.class} ${attributes.site}`
    const counter = series.get(name) ?? Metric.withAttributes(outcomes, attributes)
    series.set(name, counter)
    counter.updateUnsafe(1, EMPTY)
    if (reply?.duration_ms !== null && reply?.duration_ms !== undefined) {
      answers.updateUnsafe(reply.duration_ms / 1000, EMPTY)
    }
    if (outcome._tag === "Delivered" || outcome._tag === "Sent") ages.updateUnsafe(waited_ms / 1000, EMPTY)
  }
}
