import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Ban, Plus, Search } from "lucide-react"
import { useDeferredValue, useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { ApiError } from "../api/ApiError.ts"
import { useHasScope } from "../shell/useHasScope.ts"
import { Badge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { Dialog } from "../ui/feedback/Dialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { AddSuppression } from "./AddSuppression.tsx"
import { useRemoveSuppression } from "./useRemoveSuppression.ts"

const REASONS: { readonly [R in Suppression["reason"]]: string } = {
  hard_bounce: "Hard bounce",
  complaint: "Complaint",
  manual: "Manual",
  unsubscribe: "Unsubscribe",
}

export const Suppressions = () => {
  const canEdit = useHasScope("admin")
  const removal = useRemoveSuppression()
  const [adding, setAdding] = useState(false)
  const [text, setText] = useState("")
  const address = useDeferredValue(text.trim())
  const query = useInfiniteQuery(Queries.suppressions)
  const lookup = useQuery({
    queryKey: ["suppressions", address],
    enabled: /^[^@\s]+@[^@\s]+\.[^@\s]+$/u.test(address),
    queryFn: ({ signal }) =>
      Api.get<Suppression>(`/suppressions/${encodeURIComponent(address)}`, {}, signal).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      }),
  })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const visibleRows = lookup.data === undefined ? rows : lookup.data === null ? [] : [lookup.data]
  return (
    <Screen
      title="Suppressions"
      hint="Addresses that receive no email: they bounced, complained, unsubscribed or were added here."
      actions={
        canEdit ? (
          <Button variant="primary" icon={<Plus size={15} />} onClick={() => setAdding(true)}>
            Add suppression
          </Button>
        ) : undefined
      }
    >
      <label className="relative w-full sm:max-w-sm">
        <span className="sr-only">Find an address</span>
        <Search
          size={14}
          className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-ink-3"
          aria-hidden
        />
        <input
          data-search
          type="search"
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="Full email address"
          className="h-8 w-full rounded-lg border border-line-strong bg-raised pr-2 pl-8 text-sm placeholder:text-ink-3"
        />
      </label>
      <Panel>
        {query.isPending ? (
          <SkeletonRows />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : visibleRows.length === 0 ? (
          <EmptyState
            icon={<Ban size={20} />}
            title={lookup.data === null ? "Address not suppressed" : "No suppressions yet"}
          >
            {lookup.data === null
              ? "Email to this address is sent as usual."
              : "Addresses are added automatically after a hard bounce, a complaint or an unsubscribe. Add one to stop sending to it."}
          </EmptyState>
        ) : (
          <ul className="divide-y divide-line">
            {visibleRows.map((each) => (
              <SuppressionRow
                key={each.id}
                suppression={each}
                onRemove={canEdit ? () => removal.mutate(each) : undefined}
              />
            ))}
          </ul>
        )}
      </Panel>
      {query.hasNextPage && lookup.data === undefined ? (
        <div className="flex justify-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Load more
          </Button>
        </div>
      ) : undefined}
      <Dialog open={adding} onOpenChange={setAdding} title="Add suppression">
        <AddSuppression onDone={() => setAdding(false)} />
      </Dialog>
    </Screen>
  )
}

interface RowProps {
  readonly suppression: Suppression
  /** Undefined if the user may not change suppressions. */
  readonly onRemove: (() => void) | undefined
}

const SuppressionRow = ({ onRemove, suppression }: RowProps) => {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm">
      <span className="min-w-0 grow truncate">
        <UntrustedText text={suppression.email} />
      </span>
      {suppression.email_id === null ? undefined : (
        <Link to="/emails/$id" params={{ id: suppression.email_id }} className="text-xs text-accent hover:underline">
          View email
        </Link>
      )}
      <Badge tone={suppression.reason === "complaint" || suppression.reason === "hard_bounce" ? "bad" : "neutral"}>
        {REASONS[suppression.reason]}
      </Badge>
      <span className="tabular w-24 text-right text-xs text-ink-3">
        <RelativeTime iso={suppression.created_at} />
      </span>
      {onRemove === undefined ? undefined : (
        <Button small onClick={onRemove}>
          Remove
        </Button>
      )}
    </li>
  )
}
