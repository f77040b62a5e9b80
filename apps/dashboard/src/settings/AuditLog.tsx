import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { ScrollText } from "lucide-react"
import * as Queries from "../api/Queries.ts"
import type { AuditEntry } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { CopyButton } from "../ui/controls/CopyButton.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const ACTORS = { api_key: "API key", user: "Member", operator: "Operator", system: "Service" } as const

export const AuditLog = () => {
  const query = useInfiniteQuery(Queries.audit)
  const members = useQuery(Queries.members)
  const keys = useQuery(Queries.apiKeys)
  const names = new Map<string, string>([
    ...(members.data?.data ?? []).map(({ email, id, name }) => [id as string, name === "" ? email : name] as const),
    ...(keys.data?.data ?? []).map(({ id, name }) => [id as string, name] as const),
  ])
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Screen
      title="Audit log"
      hint="Changes to keys, domains, webhooks, suppressions, members and the account. Emails have their own log."
    >
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : rows.length === 0 ? (
          <EmptyState icon={<ScrollText size={20} />} title="No changes yet">
            Changes by API keys, members and operators appear here and are never deleted.
          </EmptyState>
        ) : (
          <ul className="divide-y divide-line">
            {rows.map((entry) => (
              <Entry key={entry.id} entry={entry} names={names} />
            ))}
          </ul>
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

const Entry = ({ entry, names }: { readonly entry: AuditEntry; readonly names: ReadonlyMap<string, string> }) => {
  const { actor, address, occurred_at, request_id, stream_id, type } = entry
  return (
    <li className="grid items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm sm:grid-cols-[minmax(0,13rem)_minmax(0,1fr)_minmax(0,13rem)_5.5rem]">
      <code className="truncate font-mono text-xs">{type}</code>
      <span className="flex min-w-0 items-center gap-1 text-ink-2">
        <span className="truncate">
          <UntrustedText text={names.get(stream_id) ?? stream_id} />
        </span>
      </span>
      <span className="min-w-0">
        <span className="block truncate">
          <UntrustedText text={names.get(actor.id ?? "") ?? ACTORS[actor.type]} />
        </span>
        <span className="flex items-center gap-1 text-xs text-ink-3">
          <span className="truncate">
            {ACTORS[actor.type]}
            {address === null ? "" : `, ${address}`}
          </span>
          {request_id === null ? undefined : (
            <CopyButton text={request_id} label="Copy request id" className="size-5" />
          )}
        </span>
      </span>
      <span className="tabular text-xs text-ink-3 sm:text-right">
        <RelativeTime iso={occurred_at} />
      </span>
    </li>
  )
}
