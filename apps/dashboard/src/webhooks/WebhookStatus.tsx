import type { Webhook } from "../api/Records.ts"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { Duration } from "../ui/display/Time.tsx"
import { isSuccessful } from "./ResponseStatus.tsx"

/** An endpoint that accepted no call for five minutes is failing, until a call succeeds. */
export const of = ({ enabled, failing_since }: Webhook): "enabled" | "failing" | "disabled" =>
  !enabled ? "disabled" : failing_since === null ? "enabled" : "failing"

/** Shows the status. From the first failed call, an enabled endpoint is not shown as if all were well. */
export const Shown = ({ hasLength = false, webhook }: { readonly webhook: Webhook; readonly hasLength?: boolean }) => {
  const { failing_since, last_call } = webhook
  const status = of(webhook)
  if (hasLength && status === "failing" && failing_since !== null)
    return (
      <Badge tone="bad" dot>
        <span>
          Failing for <Duration since={failing_since} />
        </span>
      </Badge>
    )
  if (status !== "enabled" || last_call === null || isSuccessful(last_call.status))
    return <StatusBadge status={status} />
  return <StatusBadge status={last_call.status === null ? "not answering" : "not accepting"} />
}
