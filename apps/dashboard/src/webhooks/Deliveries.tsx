import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { ChevronDown, RotateCw, Send } from "lucide-react"
import { useState } from "react"
import * as queries from "../api/Queries.ts"
import type { Delivery, DeliveryDetail } from "../api/Records.ts"
import { post } from "../api/Api.ts"
import { Badge, State } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { cx } from "../ui/display/cx.ts"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, SkeletonRows } from "../ui/layout/Screen.tsx"
import { exactly, Time } from "../ui/display/Time.tsx"
import { complain, say } from "../ui/feedback/Toasts.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

/** While a call is under way, its end is near. */
const POLL_MS = 2_000
const REST_MS = 15_000

export const Deliveries = ({ webhookId }: { readonly webhookId: string }) => {
  const query = useInfiniteQuery({
    ...queries.deliveries(webhookId),
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(({ status }) => status === "pending") === true ? POLL_MS : REST_MS,
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <>
      <Panel title="Deliveries">
        {query.isPending ? (
          <SkeletonRows />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : rows.length === 0 ? (
          <Empty icon={<Send size={20} />} title="Nothing was told yet">
            Send a test, or a message. Each call shows up here with what was sent and what came back.
          </Empty>
        ) : (
          <ul className="divide-y divide-line">
            {rows.map((delivery) => (
              <One key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        )}
      </Panel>
      {query.hasNextPage ? (
        <div className="flex justify-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Older
          </Button>
        </div>
      ) : undefined}
    </>
  )
}

const One = ({ delivery }: { readonly delivery: Delivery }) => {
  const [open, setOpen] = useState(false)
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-3 px-4 py-2.5 text-left text-sm hover:bg-hover focus-visible:-outline-offset-2"
      >
        <State state={delivery.status} />
        <code className="min-w-0 grow truncate font-mono text-xs">{delivery.event_type}</code>
        <span className="tabular hidden text-xs text-ink-3 sm:inline">
          {delivery.attempts === 1 ? "1 attempt" : `${delivery.attempts} attempts`}
        </span>
        <span className="tabular w-24 text-right text-xs text-ink-3">
          <Time iso={delivery.created_at} />
        </span>
        <ChevronDown size={15} aria-hidden className={cx("text-ink-3 transition-transform", open && "rotate-180")} />
      </button>
      {open ? <Detail delivery={delivery} /> : undefined}
    </li>
  )
}

const Detail = ({ delivery }: { readonly delivery: Delivery }) => {
  const client = useQueryClient()
  const query = useQuery({
    ...queries.delivery(delivery.webhook_id, delivery.id),
    refetchInterval: delivery.status === "pending" ? POLL_MS : false,
  })
  const replay = useMutation({
    mutationFn: () => post<Delivery>(`/webhooks/${delivery.webhook_id}/deliveries/${delivery.id}/replay`),
    onSuccess: () => {
      say("It is called once more, with the same event.")
      void client.invalidateQueries({ queryKey: queries.deliveries(delivery.webhook_id).queryKey })
    },
    onError: complain,
  })
  return (
    <div className="flex flex-col gap-3 border-t border-line bg-sunken px-4 py-4">
      <div className="flex flex-wrap items-center gap-3 text-xs text-ink-3">
        <code className="min-w-0 grow truncate font-mono">{delivery.event_id}</code>
        {delivery.next_attempt_at === null ? undefined : (
          <span>
            next attempt <Time iso={delivery.next_attempt_at} />
          </span>
        )}
        <Button small icon={<RotateCw size={13} />} busy={replay.isPending} onClick={() => replay.mutate()}>
          Replay
        </Button>
      </div>
      {query.isPending ? (
        <SkeletonRows rows={2} />
      ) : query.isError ? (
        <ErrorNote error={query.error} />
      ) : query.data.history.length === 0 ? (
        <p className="text-sm text-ink-3">Not called yet.</p>
      ) : (
        <ol className="flex flex-col gap-3">
          {query.data.history.toReversed().map((attempt) => (
            <Attempt key={attempt.at} attempt={attempt} sent={query.data.request_body} />
          ))}
        </ol>
      )}
    </div>
  )
}

interface AttemptProps {
  readonly attempt: DeliveryDetail["history"][number]
  readonly sent: string
}

const Attempt = ({ attempt, sent }: AttemptProps) => {
  const good = attempt.status !== null && attempt.status >= 200 && attempt.status < 300
  return (
    <li className="rounded-lg border border-line bg-panel">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-xs">
        <Badge tone={good ? "good" : "bad"}>{attempt.status ?? "No answer"}</Badge>
        <span className="text-ink-2">{exactly(attempt.at)}</span>
        <span className="tabular text-ink-3">{attempt.duration_ms} ms</span>
        {attempt.address === null ? undefined : <span className="text-ink-3">{attempt.address}</span>}
        {attempt.error === null ? undefined : (
          <span className="text-bad">
            <Foreign text={attempt.error} />
          </span>
        )}
      </p>
      <div className="grid gap-px border-t border-line bg-line sm:grid-cols-2">
        <Side title="Sent" headers={attempt.request_headers} body={legible(sent)} />
        <Side title="Came back" headers={attempt.response_headers} body={attempt.response_body} />
      </div>
    </li>
  )
}

const legible = (json: string): string => JSON.stringify(JSON.parse(json), null, 2)

const Side = ({
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
            <Foreign text={name} />:{" "}
          </dt>
          <dd className="inline">
            <Foreign text={value} />
          </dd>
        </div>
      ))}
    </dl>
    {body === null || body === "" ? undefined : (
      <pre
        tabIndex={0}
        aria-label={`The body that ${title.toLowerCase()}`}
        className="mt-2 max-h-48 overflow-auto rounded-md bg-sunken p-2 font-mono text-[11px] whitespace-pre-wrap text-ink"
      >
        {body}
      </pre>
    )}
  </div>
)
