import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { RefreshCw, SquareTerminal } from "lucide-react"
import * as Queries from "../api/Queries.ts"
import type { Request } from "../api/Records.ts"
import { useKeyNames } from "./useKeyNames.ts"
import { Button } from "../ui/controls/Button.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { RequestFilterBar } from "./RequestFilterBar.tsx"
import { isFiltered, type RequestFilters } from "./RequestFilters.ts"
import { RequestStatus } from "./RequestStatus.tsx"

export const Requests = () => {
  const filters = useSearch({ from: "/shell/requests" })
  const navigate = useNavigate()
  const query = useInfiniteQuery(Queries.requests(filters))
  const keyNames = useKeyNames()
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const onChange = (search: RequestFilters) => void navigate({ to: "/requests", search, replace: true })
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
      <RequestFilterBar filters={filters} keyNames={keyNames} onChange={onChange} />
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : rows.length === 0 ? (
          <EmptyState
            icon={<SquareTerminal size={20} />}
            title={isFiltered(filters) ? "No requests match your filters" : "No requests yet"}
          >
            {isFiltered(filters)
              ? "Requests are kept for some days only."
              : "Requests with your API keys appear here about a second after their response."}
          </EmptyState>
        ) : (
          <div className="overflow-x-auto">
            <table className="w-full text-left text-sm">
              <thead className="text-xs text-ink-3">
                <tr className="border-b border-line">
                  <th scope="col" className="px-4 py-2 font-medium">
                    Status
                  </th>
                  <th scope="col" className="px-2 py-2 font-medium">
                    Request
                  </th>
                  <th scope="col" className="hidden px-2 py-2 font-medium md:table-cell">
                    Sent by
                  </th>
                  <th scope="col" className="hidden px-2 py-2 text-right font-medium sm:table-cell">
                    Duration
                  </th>
                  <th scope="col" className="px-4 py-2 text-right font-medium">
                    Time
                  </th>
                </tr>
              </thead>
              <tbody className="divide-y divide-line">
                {rows.map((request) => (
                  <RequestRow key={request.id} request={request} keyNames={keyNames} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
      {query.hasNextPage ? (
        <div className="flex justify-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : undefined}
    </Screen>
  )
}

interface RowProps {
  readonly request: Request
  readonly keyNames: ReadonlyMap<string, string>
}

const RequestRow = ({ keyNames, request }: RowProps) => {
  const { api_key_id, created_at, duration_ms, id, method, path, reason, status } = request
  return (
    <tr className="align-top hover:bg-sunken">
      <td className="px-4 py-2.5">
        <RequestStatus status={status} />
      </td>
      <td className="w-full max-w-0 px-2 py-2.5">
        <Link to="/requests/$id" params={{ id }} className="block truncate font-mono text-xs hover:underline">
          {method} <UntrustedText text={path} />
        </Link>
        {reason === null ? undefined : <span className="block truncate text-xs text-ink-3">{reason}</span>}
      </td>
      <td className="hidden max-w-56 truncate px-2 py-2.5 text-ink-2 md:table-cell">
        {api_key_id === null ? "Dashboard" : <UntrustedText text={keyNames.get(api_key_id) ?? "API key"} />}
      </td>
      <td className="tabular hidden px-2 py-2.5 text-right whitespace-nowrap text-ink-3 sm:table-cell">
        {duration_ms} ms
      </td>
      <td className="tabular px-4 py-2.5 text-right text-xs text-ink-3">
        <RelativeTime iso={created_at} />
      </td>
    </tr>
  )
}
