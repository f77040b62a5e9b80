import { shownDeliveryStatus } from "@waybill/domain/webhook/shownDeliveryStatus"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import type { Delivery, Page } from "../api/Records.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { eventName } from "../ui/display/eventName.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ResponseStatus } from "../webhooks/ResponseStatus.tsx"
import { webhookName } from "../webhooks/webhookName.ts"

/** Deliveries of an email shown for each webhook. */
const DELIVERIES_PER_WEBHOOK = 100

/** Events of the whole email, for which a delivery names its first recipient. */
const OF_ALL: ReadonlySet<string> = new Set(["email.queued", "email.canceled"])

interface Props {
  readonly emailId: string
  /** Number of events of the email: each has a delivery for each webhook that takes it. */
  readonly events: number
}

/** Webhook deliveries of the events of an email. */
export const EmailWebhooks = ({ emailId, events }: Props) => {
  const webhooks = useQuery(Queries.webhooks)
  const deliveries = useQuery({
    queryKey: ["email-webhooks", emailId, events],
    enabled: webhooks.isSuccess,
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        (webhooks.data?.data ?? []).map(async (webhook) => {
          const page = await Api.get<Page<Delivery>>(
            `/webhooks/${webhook.id}/deliveries`,
            { email_id: emailId, limit: DELIVERIES_PER_WEBHOOK },
            signal,
          )
          return page.data.map((delivery) => ({ delivery, name: webhookName(webhook) }))
        }),
      )
      return pages.flat()
    },
  })
  if (webhooks.isPending || deliveries.isPending) return <SkeletonRows rows={3} />
  const rows = deliveries.data ?? []
  if (rows.length === 0)
    return <p className="p-8 text-center text-sm text-ink-3">No webhook deliveries for this email.</p>
  return (
    <ul className="divide-y divide-line">
      {rows.map(({ delivery, name }) => (
        <li key={delivery.id}>
          <Link
            to="/webhooks/$id"
            params={{ id: delivery.webhook_id }}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 sm:flex-nowrap px-4 py-2.5 text-sm hover:bg-hover"
          >
            <span className="truncate max-sm:basis-full sm:max-w-3/4" title={delivery.event_type}>
              {eventName(delivery.event_type)}
              {delivery.recipient === null || OF_ALL.has(delivery.event_type) ? undefined : (
                <>
                  {delivery.event_type === "email.delivered" ? " to " : ": "}
                  <UntrustedText text={delivery.recipient} />
                </>
              )}
            </span>
            <span className="min-w-0 grow truncate text-ink-3">
              → <UntrustedText text={name} />
            </span>
            {/* The code of an accepted call says as much. */}
            {delivery.status === "delivered" ? undefined : <StatusBadge status={shownDeliveryStatus(delivery)} />}
            {delivery.attempts === 0 ? undefined : <ResponseStatus status={delivery.last_status} />}
            <span className="shrink-0 text-xs text-ink-3">
              <RelativeTime iso={delivery.created_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
