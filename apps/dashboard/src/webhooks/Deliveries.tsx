import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { ChevronDown, RotateCw, Send } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Delivery, DeliveryDetail } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { cx } from "../ui/display/cx.ts"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { eventName } from "../ui/display/eventName.ts"
import { formatDateTime, RelativeTime } from "../ui/display/Time.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

/** Refetch interval while a delivery is pending, and otherwise. */
const PENDING_POLL_MS = 2_000
const IDLE_POLL_MS = 15_000

export const Deliveries = ({ webhookId }: { readonly webhookId: string }) => {
  const query = useInfiniteQuery({
    ...Queries.deliveries(webhookId),
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(({ status }) => status === "pending") === true ? PENDING_POLL_MS : IDLE_POLL_MS,
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <>
      <Panel title="Deliveries">
        {query.isPending ? (
          <SkeletonRows />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : rows.length === 0 ? (
          <EmptyState icon={<Send size={20} />} title="No deliveries yet">
            Each webhook request appears here with its response. Send a test event or an email to create one.
          </EmptyState>
        ) : (
          <>
            <div aria-hidden className={cx(COLUMNS, "h-9 border-b border-line text-xs font-medium text-ink-3")}>
              <span>Status</span>
              <span>Event</span>
              <span>Response</span>
              <span className="hidden sm:inline">Attempts</span>
              <span className="hidden text-right sm:inline">Time</span>
            </div>
            <ul className="divide-y divide-line">
              {rows.map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery} />
              ))}
            </ul>
          </>
        )}
      </Panel>
      {query.hasNextPage ? (
        <div className="flex justify-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : undefined}
    </>
  )
}

const COLUMNS =
  "grid w-full grid-cols-[5.5rem_minmax(0,1fr)_6.5rem_1rem] items-center gap-3 px-4 sm:grid-cols-[5.5rem_minmax(0,1fr)_6.5rem_4rem_6rem_1rem]"

const DeliveryRow = ({ delivery }: { readonly delivery: Delivery }) => {
  const [open, setOpen] = useState(false)
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className={cx(COLUMNS, "py-2.5 text-left text-sm hover:bg-hover focus-visible:-outline-offset-2")}
      >
        <span>
          <StatusBadge status={delivery.status} />
        </span>
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate" title={delivery.event_type}>
            {eventName(delivery.event_type)}
          </span>
          {delivery.livemode ? undefined : <Badge tone="warn">Test</Badge>}
        </span>
        <span>{delivery.attempts === 0 ? undefined : <ResponseStatus status={delivery.last_status} />}</span>
        <span className="tabular hidden text-xs text-ink-3 sm:inline">{delivery.attempts}</span>
        <span className="tabular hidden text-right text-xs text-ink-3 sm:inline">
          <RelativeTime iso={delivery.created_at} />
        </span>
        <ChevronDown size={15} aria-hidden className={cx("text-ink-3 transition-transform", open && "rotate-180")} />
      </button>
      {open ? <DeliveryDetails delivery={delivery} /> : undefined}
    </li>
  )
}

const DeliveryDetails = ({ delivery }: { readonly delivery: Delivery }) => {
  const client = useQueryClient()
  const query = useQuery({
    ...Queries.delivery(delivery.webhook_id, delivery.id),
    refetchInterval: delivery.status === "pending" ? PENDING_POLL_MS : false,
  })
  const replay = useMutation({
    mutationFn: () => Api.post<Delivery>(`/webhooks/${delivery.webhook_id}/deliveries/${delivery.id}/replay`),
    onSuccess: () => {
      showToast("Delivery queued again.")
      void client.invalidateQueries({ queryKey: Queries.deliveries(delivery.webhook_id).queryKey })
    },
    onError: showError,
  })
  return (
    <div className="flex flex-col gap-3 border-t border-line bg-sunken px-4 py-4">
      <div className="flex flex-wrap items-center gap-3 text-xs text-ink-3">
        <code className="min-w-0 grow truncate font-mono">{delivery.event_id}</code>
        {delivery.next_attempt_at === null ? undefined : (
          <span>
            Next attempt <RelativeTime iso={delivery.next_attempt_at} />
          </span>
        )}
        <Button small icon={<RotateCw size={13} />} busy={replay.isPending} onClick={() => replay.mutate()}>
          Replay
        </Button>
      </div>
      {query.isPending ? (
        <SkeletonRows rows={2} />
      ) : query.isError ? (
        <ErrorMessage error={query.error} />
      ) : query.data.history.length === 0 ? (
        <p className="text-sm text-ink-3">Not attempted yet.</p>
      ) : (
        <ol className="flex flex-col gap-3">
          {query.data.history.toReversed().map((attempt) => (
            <Attempt key={attempt.at} attempt={attempt} requestBody={query.data.request_body} />
          ))}
        </ol>
      )}
    </div>
  )
}

const isSuccessful = (status: number | null): boolean => status !== null && status >= 200 && status < 300

/** Status code of an endpoint's response. */
export const ResponseStatus = ({ status }: { readonly status: number | null }) => (
  <Badge tone={isSuccessful(status) ? "good" : "bad"}>{status ?? "No response"}</Badge>
)

interface AttemptProps {
  readonly attempt: DeliveryDetail["history"][number]
  readonly requestBody: string
}

const Attempt = ({ attempt, requestBody }: AttemptProps) => (
  <li className="rounded-lg border border-line bg-panel">
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-xs">
      {attempt.called === false ? <Badge>Not called</Badge> : <ResponseStatus status={attempt.status} />}
      <span className="text-ink-2">{formatDateTime(attempt.at)}</span>
      {attempt.called === false ? undefined : <span className="tabular text-ink-3">{attempt.duration_ms} ms</span>}
      {attempt.address === null ? undefined : <span className="text-ink-3">{attempt.address}</span>}
      {attempt.error === null ? undefined : (
        <span
          className={cx("inline-block first-letter:uppercase", attempt.called === false ? "text-ink-2" : "text-bad")}
        >
          <UntrustedText text={attempt.error} />
        </span>
      )}
    </p>
    {attempt.called === false ? undefined : (
      <div className="grid gap-px border-t border-line bg-line sm:grid-cols-2">
        <HttpMessage title="Request" headers={attempt.request_headers} body={indented(requestBody)} />
        <HttpMessage title="Response" headers={attempt.response_headers} body={attempt.response_body} />
      </div>
    )}
  </li>
)

const indented = (json: string): string => JSON.stringify(JSON.parse(json), null, 2)

const HttpMessage = ({
  body,
  headers,
  title,
}: {
  readonly title: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}) => (
  <div className="min-w-0 bg-panel p-3">
    <p className="mb-1.5 text-xs font-medium text-ink-3">{title}</p>
    <dl className="flex flex-col gap-0.5 font-mono text-[11px] break-all text-ink-2">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <dt className="inline text-ink-3">
            <UntrustedText text={name} />:{" "}
          </dt>
          <dd className="inline">
            <UntrustedText text={value} />
          </dd>
        </div>
      ))}
    </dl>
    {body === null || body === "" ? undefined : (
      <pre
        tabIndex={0}
        aria-label={`${title} body`}
        className="mt-2 max-h-48 overflow-auto rounded-md bg-sunken p-2 font-mono text-[11px] whitespace-pre-wrap text-ink"
      >
        {body}
      </pre>
    )}
  </div>
)
