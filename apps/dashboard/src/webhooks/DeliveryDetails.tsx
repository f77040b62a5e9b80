import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { RotateCw } from "lucide-react"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import type { Delivery, DeliveryDetail } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { Badge } from "../ui/display/Badge.tsx"
import { cx } from "../ui/display/cx.ts"
import { formatDuration } from "../ui/display/formatDuration.ts"
import { formatDateTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { ResponseStatus } from "./ResponseStatus.tsx"
import { QueryResult } from "../ui/layout/QueryResult.tsx"
import { indented } from "../ui/controls/Code.tsx"

/** Refetch interval while a delivery is pending. */
export const PENDING_POLL_MS = 2_000

/** Shows what was sent to the endpoint, and what it answered. */
export const DeliveryDetails = ({ delivery }: { readonly delivery: Delivery }) => {
  const client = useQueryClient()
  const query = useQuery({
    ...Queries.delivery(delivery.webhook_id, delivery.id),
    refetchInterval: delivery.status === "pending" ? PENDING_POLL_MS : false,
  })
  const replay = useMutation({
    mutationFn: () => Api.post<Delivery>(`/webhooks/${delivery.webhook_id}/deliveries/${delivery.id}/replay`),
    onSuccess: () => {
      showToast("Delivery queued again.")
      void client.invalidateQueries({ queryKey: Queries.deliveriesOf(delivery.webhook_id) })
    },
    onError: showError,
  })
  return (
    <div className="flex flex-col gap-3 border-t border-line bg-sunken px-4 py-4">
      <div className="flex flex-wrap items-center gap-3 text-xs text-ink-3">
        <code className="min-w-0 grow truncate font-mono">{delivery.event_id}</code>
        {delivery.email_id === null ? undefined : (
          <Link to="/emails/$id" params={{ id: delivery.email_id }} className="link">
            View email
          </Link>
        )}
        <Button small icon={<RotateCw size={13} />} busy={replay.isPending} onClick={() => replay.mutate()}>
          {delivery.status === "pending" ? "Retry now" : "Replay"}
        </Button>
      </div>
      <QueryResult isInPanel query={query} rows={2}>
        {({ history, request_body }) =>
          history.length === 0 ? (
            <p className="text-sm text-ink-3">Not attempted yet.</p>
          ) : (
            <ol className="flex flex-col gap-3">
              {history.toReversed().map((attempt) => (
                <Attempt key={attempt.at} attempt={attempt} requestBody={request_body} />
              ))}
            </ol>
          )
        }
      </QueryResult>
    </div>
  )
}

interface AttemptProps {
  readonly attempt: DeliveryDetail["history"][number]
  readonly requestBody: string
}

const Attempt = ({ attempt, requestBody }: AttemptProps) => (
  <li className="rounded-lg border border-line bg-panel">
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-xs">
      {attempt.called === false ? <Badge>Not called</Badge> : <ResponseStatus status={attempt.status} />}
      <span className="text-ink-2">{formatDateTime(attempt.at)}</span>
      {attempt.called === false ? undefined : (
        <span className="tabular text-ink-3">{formatDuration(attempt.duration_ms)}</span>
      )}
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
        <HttpMessage title="Response" headers={attempt.response_headers} body={attempt.response_body} />
        <HttpMessage title="Request" headers={attempt.request_headers} body={requestBody} />
      </div>
    )}
  </li>
)

interface MessageProps {
  readonly title: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

const HttpMessage = ({ body, headers, title }: MessageProps) => (
  <div className="min-w-0 bg-panel p-3">
    <p className="mb-1.5 text-xs font-medium text-ink-3">{title}</p>
    {body === null || body === "" ? (
      <p className="text-xs text-ink-3">No body.</p>
    ) : (
      <pre
        tabIndex={0}
        aria-label={`${title} body`}
        className="max-h-48 overflow-auto rounded-md bg-sunken p-2 font-mono text-[11px] whitespace-pre-wrap text-ink"
      >
        {indented(body)}
      </pre>
    )}
    <dl className="mt-2 flex flex-col gap-0.5 font-mono text-[11px] break-all text-ink-2">
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <dt className="inline text-ink-3">
            <UntrustedText text={name} />:{" "}
          </dt>
          <UntrustedText as="dd" className="inline" text={value} />
        </div>
      ))}
    </dl>
  </div>
)
