import { Schema } from "effect"

export const Plan = Schema.Literals(["free", "starter", "growth", "business"]).annotate({ identifier: "Plan" })
export type Plan = typeof Plan.Type

export const ALL = Plan.literals

export interface Terms {
  /** Display name. */
  readonly name: string
  /** Recipients accepted per UTC month; `null` is unlimited. */
  readonly monthly_emails: number | null
  /** Maximum number of recipients per message across to, cc and bcc. */
  readonly max_recipients: number
  /** Bytes of content of scheduled mail of a UTC month; mail that is sent no longer counts. */
  readonly scheduled_bytes: number
}

const MIB = 1024 * 1024

/** The plans of the specification. */
export const TERMS: { readonly [P in Plan]: Terms } = {
  free: { name: "Free", monthly_emails: 3_000, max_recipients: 10, scheduled_bytes: 256 * MIB },
  starter: { name: "Starter", monthly_emails: 50_000, max_recipients: 50, scheduled_bytes: 2_048 * MIB },
  growth: { name: "Growth", monthly_emails: 500_000, max_recipients: 50, scheduled_bytes: 10_240 * MIB },
  business: { name: "Business", monthly_emails: null, max_recipients: 100, scheduled_bytes: 51_200 * MIB },
}
