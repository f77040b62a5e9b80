import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Mail, SearchX } from "lucide-react"
import { useState } from "react"
import { Button } from "../ui/controls/Button.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { FirstEmail } from "../firstEmail/FirstEmail.tsx"
import * as LiveEmails from "./LiveEmails.ts"
import { FilterBar } from "./FilterBar.tsx"
import { LiveToggle } from "./LiveToggle.tsx"
import { isFiltered } from "./EmailFilters.ts"
import { EmailTable } from "./EmailTable.tsx"

export const Emails = () => {
  const search = useSearch({ from: "/shell/emails" })
  const navigate = useNavigate({ from: "/emails" })
  const [isLive, setLive] = useState(true)
  const query = useInfiniteQuery(LiveEmails.emailListQuery(search))
  const live = LiveEmails.useLiveEmails(search, isLive && query.data !== undefined)
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Screen
      title="Emails"
      hint="All emails and their delivery status."
      actions={<LiveToggle isOn={isLive} state={live.state} onChange={setLive} />}
    >
      <FilterBar filters={search} onChange={(next) => void navigate({ search: next, replace: true })} />
      <Panel className="overflow-hidden">
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.data === undefined ? (
          <div className="p-4">
            <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : rows.length > 0 ? (
          <EmailTable
            rows={rows}
            newIds={live.newIds}
            hasMore={query.hasNextPage}
            isLoadingMore={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
        ) : isFiltered(search) ? (
          <EmptyState
            icon={<SearchX size={20} />}
            title="No emails match your filters"
            action={<Button onClick={() => void navigate({ search: {} })}>Clear filters</Button>}
          >
            Change or clear the filters to see more.
          </EmptyState>
        ) : (
          <EmptyState icon={<Mail size={20} />} title="No emails yet" action={<FirstEmail />}>
            Emails appear here as soon as they are accepted. Send the first one:
          </EmptyState>
        )}
      </Panel>
    </Screen>
  )
}
