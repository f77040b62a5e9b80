import type { Webhook } from "../api/Records.ts"

/** An endpoint that accepted no call for five minutes is failing, until a call succeeds. */
export const of = ({ enabled, failing_since }: Webhook): "enabled" | "failing" | "disabled" =>
  !enabled ? "disabled" : failing_since === null ? "enabled" : "failing"
