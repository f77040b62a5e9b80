import type { Webhook } from "../api/Records.ts"

const REASONS: ReadonlyMap<string, string> = new Map([
  ["gone", "Endpoint responded 410 Gone"],
  ["failing", "No successful delivery for five days"],
  ["manual", "Manually"],
])

export const ofReason = (reason: string): string => REASONS.get(reason) ?? reason

/** Says why a webhook is disabled; `undefined` for one that is enabled. */
export const words = ({ disabled_reason: reason }: Webhook): string | undefined =>
  reason === null ? undefined : ofReason(reason)

/** Whether the service disabled the webhook by itself. */
export const isByService = ({ disabled_reason: reason, enabled }: Webhook): boolean =>
  !enabled && reason !== null && reason !== "manual"
