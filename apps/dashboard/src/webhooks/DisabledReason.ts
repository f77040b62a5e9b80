import * as Table from "@waybill/domain/collections/Table"
import type { Webhook } from "../api/Records.ts"

const REASONS: { readonly [reason: string]: string } = {
  gone: "Endpoint responded 410 Gone",
  failing: "No successful delivery for five days",
  manual: "Manually",
}

/** Says why a webhook is disabled; `undefined` for one that is enabled. */
export const words = ({ disabled_reason: reason }: Webhook): string | undefined =>
  reason === null ? undefined : (Table.at(REASONS, reason) ?? reason)

/** Whether the service disabled the webhook by itself. */
export const isByService = ({ disabled_reason: reason, enabled }: Webhook): boolean =>
  !enabled && reason !== null && reason !== "manual"
