import { Schema } from "effect"

export const Status = Schema.Literals(["pending", "verified", "degraded", "failed"]).annotate({
  identifier: "DomainStatus",
})
export type Status = typeof Status.Type

/** A degraded domain still sends: its record is often restored soon, and a DNS typo should not lose mail. */
export const sends = (status: Status): boolean => status === "verified" || status === "degraded"
