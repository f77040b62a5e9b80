import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { ScrollText } from "lucide-react"
import * as queries from "../api/Queries.ts"
import type { AuditEntry } from "../api/Records.ts"
import { Button } from "../ui/controls/Button.tsx"
import { CopyButton } from "../ui/controls/CopyButton.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const HANDS = { api_key: "Key", user: "Member", operator: "Operator", system: "Service" } as const

export const Audit = () => {
  const query = useInfiniteQuery(queries.audit)
  const members = useQuery(queries.members)
  const keys = useQuery(queries.apiKeys)
  const names = new Map<string, string>([
    ...(members.data?.data ?? []).map(({ email, id, name }) => [id as string, name === "" ? email : name] as const),
    ...(keys.data?.data ?? []).map(({ id, name }) => [id as string, name] as const),
  ])
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Screen
      title="Audit log"
      hint="Who did what to keys, domains, webhooks, suppressions, members and the account. Mail is in the log of emails."
    >
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : rows.length === 0 ? (
          <Empty icon={<ScrollText size={20} />} title="Nothing was changed yet">
            Every change by a key, a member or an operator is written down here, and stays.
          </Empty>
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
            Older
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
          <Foreign text={names.get(stream_id) ?? stream_id} />
        </span>
      </span>
      <span className="min-w-0">
        <span className="block truncate">
          <Foreign text={names.get(actor.id ?? "") ?? HANDS[actor.type]} />
        </span>
        <span className="flex items-center gap-1 text-xs text-ink-3">
          <span className="truncate">
            {HANDS[actor.type]}
            {address === null ? "" : `, ${address}`}
          </span>
          {request_id === null ? undefined : (
            <CopyButton text={request_id} label="Copy the request id" className="size-5" />
          )}
        </span>
      </span>
      <span className="tabular text-xs text-ink-3 sm:text-right">
        <Time iso={occurred_at} />
      </span>
    </li>
  )
}
