import { useInfiniteQuery } from "@tanstack/react-query"
import { RefreshCw, SquareTerminal } from "lucide-react"
import { defined } from "../api/defined.ts"
import * as Queries from "../api/Queries.ts"
import type { NotKeptRequests, Request } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { useTypedText } from "../ui/controls/SearchField.tsx"
import { formatDuration } from "../ui/display/formatDuration.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { isRequestId, type RequestFilters, typedFilters } from "../api/RequestFilters.ts"
import { RequestStatus } from "./RequestStatus.tsx"
import { Link, useNavigate } from "@tanstack/react-router"
import { ListScreen } from "../ui/layout/ListScreen.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"
import { useKeyNames, useSenderName } from "../session/Names.ts"
import { ChoiceFilter } from "../ui/controls/FilterSelect.tsx"

export const Requests = () => {
  const list = useListSearch<keyof RequestFilters>()
  const filters: RequestFilters = list.search
  const navigate = useNavigate({ from: "/requests" })
  const query = useInfiniteQuery(Queries.requests(filters))
  const search = ({ path: _, recipient: __, ...others }: RequestFilters, text: string) =>
    defined({ ...others, ...typedFilters(text) })
  const typed = useTypedText(filters.recipient ?? filters.path ?? "", (text) =>
    isRequestId(text)
      ? void navigate({ to: "/requests/$id", params: { id: text } })
      : void navigate({ search: (current) => search(current, text), replace: true }),
  )
  return (
    <ListScreen
      title="Requests"
      hint="API requests of this account, also refused ones, with secrets and content masked."
      actions={
        <Button icon={<RefreshCw size={14} />} busy={query.isRefetching} onClick={() => void query.refetch()}>
          Refresh
        </Button>
      }
      list={{ ...list, typed }}
      search={["Search by path, request ID or recipient", "Path, request ID or recipient"]}
      filters={<RequestFilterBar filter={list.filter} />}
      notice={<NotKept days={query.data?.pages[0]?.not_kept ?? []} />}
      query={query}
      columns={columnsOf(useSenderName())}
      noun="requests"
      noMatches={`Requests are kept for some days only.${
        filters.recipient === undefined ? "" : " Refused ones only are found by a recipient."
      }`}
      empty={{
        icon: <SquareTerminal size={20} />,
        title: "No requests yet",
        children: "Requests with your API keys appear here about a second after their response.",
      }}
    />
  )
}

const columnsOf = (senderName: ReturnType<typeof useSenderName>): ReadonlyArray<Column<Request>> => [
  {
    name: "Request",
    main: true,
    cell: ({ id, method, path, query, reason }) => (
      <span className="block">
        <Link to="/requests/$id" params={{ id }} className="block truncate font-mono text-xs hover:underline">
          {method} <UntrustedText text={path} />
          {query === null ? undefined : (
            <span className="text-ink-3">
              ?<UntrustedText text={query} />
            </span>
          )}
        </Link>
        {reason === null ? undefined : <span className="block truncate text-xs text-ink-3">{reason}</span>}
      </span>
    ),
  },
  { name: "Status", cell: ({ status }) => <RequestStatus status={status} /> },
  {
    name: "By",
    wide: true,
    cell: (request) => <UntrustedText className="block max-w-52 truncate text-ink-2" text={senderName(request)} />,
  },
  {
    name: "Duration",
    number: true,
    wide: true,
    small: true,
    cell: ({ duration_ms }) => formatDuration(duration_ms),
  },
  { name: "Time", number: true, small: true, cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
]

const STATUSES = [
  { value: "2xx", name: "Succeeded (2xx)" },
  { value: "4xx", name: "Refused (4xx)" },
  { value: "5xx", name: "Failed (5xx)" },
  { value: "400", name: "400 Invalid request" },
  { value: "401", name: "401 Unauthorized" },
  { value: "403", name: "403 Forbidden" },
  { value: "404", name: "404 Not found" },
  { value: "422", name: "422 Unprocessable" },
  { value: "429", name: "429 Rate limited" },
]
const METHODS = ["GET", "POST", "PATCH", "DELETE"].map((method) => ({ value: method, name: method }))

type Filter = ReturnType<typeof useListSearch<"api_key_id" | "method" | "status">>["filter"]

const RequestFilterBar = ({ filter }: { readonly filter: Filter }) => {
  const keys = [...useKeyNames()].map(([value, name]) => ({ value, name }))
  return (
    <>
      <ChoiceFilter label="Status" choices={STATUSES} {...filter("status")} />
      <ChoiceFilter label="Method" choices={METHODS} {...filter("method")} />
      {keys.length === 0 ? undefined : <ChoiceFilter label="API key" choices={keys} {...filter("api_key_id")} />}
    </>
  )
}

/** Maximum days that are named. */
const MAX_DAYS = 3

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" })

/** Says on which days the log does not hold all requests, and how many it only counted. */
const NotKept = ({ days }: { readonly days: ReadonlyArray<NotKeptRequests> }) => {
  if (days.length === 0) return undefined
  const named = days
    .slice(0, MAX_DAYS)
    .map(({ count, date }) => `${count.toLocaleString("en")} on ${day.format(new Date(date))}`)
  const others = days.length - named.length
  const all = others === 0 ? named : [...named, `more on ${others} earlier ${others === 1 ? "day" : "days"}`]
  return (
    <section aria-label="Requests not kept" className="rounded-md bg-warn-soft px-4 py-2 text-sm text-warn">
      <p>
        <strong className="font-semibold">Some requests were counted but not kept:</strong> {all.join(", ")} (UTC). The
        log keeps a limited amount per key and account in a minute and a day.
      </p>
    </section>
  )
}
