import { shownWebhookStatus } from "@waybill/domain/webhook/shownWebhookStatus"
import type { Webhook } from "../api/Records.ts"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { Duration } from "../ui/display/Time.tsx"

export const Shown = ({ hasLength = false, webhook }: { readonly webhook: Webhook; readonly hasLength?: boolean }) => {
  const { failing_since } = webhook
  const status = shownWebhookStatus(webhook)
  return hasLength && status === "failing" && failing_since !== null ? (
    <Badge tone="bad" dot>
      <span>
        Failing for <Duration since={failing_since} />
      </span>
    </Badge>
  ) : (
    <StatusBadge status={status} />
  )
}
