import { shownDeliveryStatus } from "@waybill/domain/webhook/shownDeliveryStatus"
import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { ChevronDown, SearchX, Send } from "lucide-react"
import { useState } from "react"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import * as Queries from "../api/Queries.ts"
import type { Delivery } from "../api/Records.ts"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { cx } from "../ui/display/cx.ts"
import { eventName } from "../ui/display/eventName.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { DeliveryDetails, PENDING_POLL_MS } from "./DeliveryDetails.tsx"
import { RepeatDeliveries } from "./RepeatDeliveries.tsx"
import { isSuccessful, ResponseStatus } from "./ResponseStatus.tsx"

/** Refetch interval while no delivery is pending. */
export const IDLE_POLL_MS = 15_000

const STATUSES = [
  ["called", "Called"],
  ["all", "All"],
  ["delivered", "Delivered"],
  ["pending", "In progress"],
  ["failed", "Failed"],
] as const

export const Deliveries = ({ isEnabled, webhookId }: { readonly webhookId: string; readonly isEnabled: boolean }) => {
  const navigate = useNavigate({ from: "/webhooks/$id" })
  const search = useSearch({ from: "/shell/webhooks/$id" })
  const status = STATUSES.find(([name]) => name === search.status)?.[0] ?? "called"
  const query = useInfiniteQuery({
    ...Queries.deliveries(webhookId, status === "called" ? { called: "true" } : status === "all" ? {} : { status }),
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some((each) => each.status === "pending") === true ? PENDING_POLL_MS : IDLE_POLL_MS,
  })
  const newest = query.data?.pages[0]?.data ?? []
  return (
    <section aria-label="Deliveries" className="flex flex-col gap-3">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="text-sm font-semibold">Deliveries</h2>
        <SegmentedControl
          label="Status of deliveries"
          value={status}
          options={STATUSES}
          onChange={(next) => void navigate({ search: next === "called" ? {} : { status: next }, replace: true })}
        />
        <p className="grow text-xs text-ink-3">{status === "called" ? rateOf(newest) : undefined}</p>
        {isEnabled ? (
          <>
            <RepeatDeliveries webhookId={webhookId} kind="retrying" pollMs={IDLE_POLL_MS} />
            <RepeatDeliveries webhookId={webhookId} kind="failed" pollMs={IDLE_POLL_MS} />
          </>
        ) : undefined}
      </header>
      <PagedRows
        query={query}
        isPending={false}
        empty={
          status === "called" || status === "all" ? (
            <EmptyState icon={<Send size={20} />} title={status === "all" ? "No deliveries yet" : "No calls yet"}>
              Each webhook request appears here with its response. Send a test event or an email to create one.
            </EmptyState>
          ) : (
            <EmptyState
              icon={<SearchX size={20} />}
              title={status === "pending" ? "No deliveries in progress" : `No ${status} deliveries`}
            >
              Deliveries are kept for some weeks only.
            </EmptyState>
          )
        }
      >
        {(rows) => (
          <>
            <div
              aria-hidden
              className={cx(COLUMNS, "h-9 border-b border-line text-xs font-medium text-ink-3 max-sm:hidden")}
            >
              <span>Status</span>
              <span>Event</span>
              <span>Response</span>
              <span>Attempts</span>
              <span className="text-right">Time</span>
            </div>
            <ul className="divide-y divide-line">
              {rows.map((delivery) => (
                <DeliveryRow key={delivery.id} delivery={delivery} />
              ))}
            </ul>
          </>
        )}
      </PagedRows>
    </section>
  )
}

/** Says how many of the newest deliveries that were called the endpoint has accepted. */
const rateOf = (called: ReadonlyArray<Delivery>): string | undefined => {
  const accepted = called.filter(({ status }) => status === "delivered").length
  return called.length === 0
    ? undefined
    : `${DeliveryRates.percent(accepted / called.length)} of the last ${called.length} accepted`
}

/** A row has two lines on a phone: what happened, and below it to whom and when. */
const COLUMNS =
  "grid w-full grid-cols-[auto_minmax(0,1fr)_auto_1rem] items-center gap-x-2 gap-y-1.5 px-4 sm:gap-x-3 sm:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,1fr)_4rem_6rem_1rem]"

const DeliveryRow = ({ delivery }: { readonly delivery: Delivery }) => {
  const [open, setOpen] = useState(false)
  const { attempts, created_at, event_type, last_answer, last_status, livemode, next_attempt_at, recipient } = delivery
  const shown = shownDeliveryStatus(delivery)
  // The service's own words begin with a capital; those of an endpoint stay as they are.
  const notCalled = attempts === 0 && "first-letter:uppercase"
  const answer = isSuccessful(last_status) ? null : last_answer
  const next = shown === "retrying" || shown === "held" ? next_attempt_at : null
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className={cx(COLUMNS, "py-2.5 text-left text-sm hover:bg-hover focus-visible:-outline-offset-2")}
      >
        <span className="flex flex-col items-start gap-0.5">
          <StatusBadge status={shown} />
          {next === null ? undefined : (
            <span className="hidden text-xs whitespace-nowrap text-ink-3 sm:inline">
              Next <RelativeTime isAhead iso={next} />
            </span>
          )}
        </span>
        <span className="min-w-0">
          <span className="flex min-w-0 items-center gap-2">
            <span className="truncate" title={event_type}>
              {eventName(event_type)}
            </span>
            {livemode ? undefined : <Badge tone="warn">Test</Badge>}
          </span>
          {recipient === null ? undefined : (
            <UntrustedText className="hidden truncate text-xs text-ink-3 sm:block" text={recipient} />
          )}
        </span>
        <span className="min-w-0">
          {attempts === 0 ? undefined : <ResponseStatus status={last_status} />}
          {answer === null ? undefined : (
            <span className={cx("mt-0.5 hidden truncate text-xs text-ink-3 sm:block", notCalled)} title={answer}>
              <UntrustedText text={answer} />
            </span>
          )}
        </span>
        <span className="tabular hidden text-xs text-ink-3 sm:inline">{attempts}</span>
        <span className="tabular hidden text-right text-xs text-ink-3 sm:inline">
          <RelativeTime iso={created_at} />
        </span>
        <ChevronDown size={15} aria-hidden className={cx("text-ink-3 transition-transform", open && "rotate-180")} />
        <span className="col-span-full flex min-w-0 gap-2 text-xs text-ink-3 sm:hidden">
          <span className="min-w-0 grow truncate">
            {recipient === null ? undefined : <UntrustedText text={recipient} />}
            {recipient === null || answer === null ? undefined : " · "}
            {answer === null ? undefined : <UntrustedText text={answer} />}
          </span>
          {next === null ? <RelativeTime iso={created_at} /> : <RelativeTime isAhead iso={next} />}
        </span>
      </button>
      {open ? <DeliveryDetails delivery={delivery} /> : undefined}
    </li>
  )
}
