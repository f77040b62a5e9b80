import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { get } from "../api/Api.ts"
import * as queries from "../api/Queries.ts"
import type { Delivery, EventRecord, Page } from "../api/Records.ts"
import { State } from "../ui/display/Badge.tsx"
import { SkeletonRows } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"

/** Calls are listed a webhook at a time, so this looks through the newest of each. */
const LOOKED_THROUGH = 100

/** The calls that this message's events have caused. */
export const WebhooksOf = ({ events }: { readonly events: ReadonlyArray<EventRecord> }) => {
  const webhooks = useQuery(queries.webhooks)
  const ids = new Set(events.map(({ id }) => id as string))
  const found = useQuery({
    queryKey: ["webhooks-of", [...ids]],
    enabled: webhooks.isSuccess,
    queryFn: async ({ signal }) => {
      const pages = await Promise.all(
        (webhooks.data?.data ?? []).map(async (webhook) => {
          const page = await get<Page<Delivery>>(
            `/webhooks/${webhook.id}/deliveries`,
            { limit: LOOKED_THROUGH },
            signal,
          )
          return page.data.map((delivery) => ({ delivery, url: webhook.url }))
        }),
      )
      return pages.flat().filter(({ delivery }) => ids.has(delivery.event_id))
    },
  })
  if (webhooks.isPending || found.isPending) return <SkeletonRows rows={3} />
  const calls = found.data ?? []
  if (calls.length === 0)
    return (
      <p className="p-8 text-center text-sm text-ink-3">
        No webhook was called for this message, as far as the last {LOOKED_THROUGH} calls of each show.
      </p>
    )
  return (
    <ul className="divide-y divide-line">
      {calls.map(({ delivery, url }) => (
        <li key={delivery.id}>
          <Link
            to="/webhooks/$id"
            params={{ id: delivery.webhook_id }}
            className="flex items-center gap-3 px-4 py-2.5 text-sm hover:bg-hover"
          >
            <State state={delivery.status} />
            <code className="shrink-0 font-mono text-xs">{delivery.event_type}</code>
            <span className="min-w-0 grow truncate text-ink-3">{url}</span>
            <span className="shrink-0 text-xs text-ink-3">
              <Time iso={delivery.created_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
