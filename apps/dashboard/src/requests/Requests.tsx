import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { RefreshCw, SquareTerminal } from "lucide-react"
import { defined } from "../api/defined.ts"
import * as Queries from "../api/Queries.ts"
import type { Request } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { useTypedText } from "../ui/controls/SearchField.tsx"
import { formatDuration } from "../ui/display/formatDuration.ts"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { PagedRows } from "../ui/layout/PagedRows.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { type Column, Table } from "../ui/layout/Table.tsx"
import { NotKept } from "./NotKept.tsx"
import { RequestFilterBar } from "./RequestFilterBar.tsx"
import { isFiltered, isRequestId, type RequestFilters, typedFilters } from "../api/RequestFilters.ts"
import { RequestStatus } from "./RequestStatus.tsx"
import { useKeyNames } from "./useKeyNames.ts"
import { useSenderName } from "./useSenderName.ts"
import { NoMatches } from "../ui/feedback/NoMatches.tsx"

export const Requests = () => {
  const filters = useSearch({ from: "/shell/requests" })
  const navigate = useNavigate({ from: "/requests" })
  const query = useInfiniteQuery(Queries.requests(filters))
  const keyNames = useKeyNames()
  const senderName = useSenderName()
  const change = (name: keyof RequestFilters, value: string | undefined) =>
    void navigate({ search: (current) => defined({ ...current, [name]: value }), replace: true })
  const search = ({ path: _, recipient: __, ...others }: RequestFilters, text: string) =>
    defined({ ...others, ...typedFilters(text) })
  const typed = useTypedText(filters.recipient ?? filters.path ?? "", (text) =>
    isRequestId(text)
      ? void navigate({ to: "/requests/$id", params: { id: text } })
      : void navigate({ search: (current) => search(current, text), replace: true }),
  )
  return (
    <Screen
      title="Requests"
      hint="API requests of this account, also refused ones, with secrets and content masked."
      actions={
        <Button icon={<RefreshCw size={14} />} busy={query.isRefetching} onClick={() => void query.refetch()}>
          Refresh
        </Button>
      }
    >
      <RequestFilterBar filters={filters} typed={typed} keyNames={keyNames} onChange={change} />
      <NotKept days={query.data?.pages[0]?.not_kept ?? []} />
      <PagedRows
        query={query}
        isPending={typed.isPending}
        empty={
          isFiltered(filters) ? (
            <NoMatches name="requests" onClear={() => void navigate({ search: {}, replace: true })}>
              Requests are kept for some days only.
              {filters.recipient === undefined ? "" : " Refused ones only are found by a recipient."}
            </NoMatches>
          ) : (
            <EmptyState icon={<SquareTerminal size={20} />} title="No requests yet">
              Requests with your API keys appear here about a second after their response.
            </EmptyState>
          )
        }
      >
        {(rows) => <Table isList label="Requests" rows={rows} keyOf={({ id }) => id} columns={columnsOf(senderName)} />}
      </PagedRows>
    </Screen>
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
    name: "Sent by",
    wide: true,
    cell: (request) => <UntrustedText className="block max-w-52 truncate text-ink-2" text={senderName(request)} />,
  },
  {
    name: "Duration",
    number: true,
    wide: true,
    cell: ({ duration_ms }) => (
      <span className="text-xs whitespace-nowrap text-ink-3">{formatDuration(duration_ms)}</span>
    ),
  },
  {
    name: "Time",
    number: true,
    cell: ({ created_at }) => (
      <span className="text-xs whitespace-nowrap text-ink-3">
        <RelativeTime iso={created_at} />
      </span>
    ),
  },
]
