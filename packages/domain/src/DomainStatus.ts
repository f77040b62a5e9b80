import { Schema } from "effect"

export const Status = Schema.Literals(["pending", "verified", "degraded", "failed"]).annotate({
  identifier: "DomainStatus",
})
export type Status = typeof Status.Type

/** A degraded domain still sends: its record may be back before anybody notices, and mail is not lost over a typo in DNS. */
export const sends = (status: Status): boolean => status === "verified" || status === "degraded"
