import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Mail, SearchX } from "lucide-react"
import { useState } from "react"
import { Button } from "../ui/controls/Button.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { sendExamples } from "./sendExamples.ts"
import { emails, useTail } from "./LiveEmails.ts"
import { Filters } from "./FilterBar.tsx"
import { LiveSwitch } from "./LiveToggle.tsx"
import { isFiltered } from "./EmailFilters.ts"
import { EmailTable } from "./EmailTable.tsx"

export const Emails = () => {
  const search = useSearch({ from: "/shell/emails" })
  const navigate = useNavigate({ from: "/emails" })
  const [live, setLive] = useState(true)
  const query = useInfiniteQuery(emails(search))
  const tail = useTail(search, live && query.data !== undefined)
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Screen
      wide
      title="Emails"
      hint="Every message, and what became of it."
      actions={<LiveSwitch on={live} liveness={tail.liveness} onChange={setLive} />}
    >
      <Filters search={search} onChange={(next) => void navigate({ search: next, replace: true })} />
      <Panel className="overflow-hidden">
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.data === undefined ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : rows.length > 0 ? (
          <EmailTable
            rows={rows}
            arrived={tail.arrived}
            hasMore={query.hasNextPage}
            isLoadingMore={query.isFetchingNextPage}
            onMore={() => void query.fetchNextPage()}
          />
        ) : isFiltered(search) ? (
          <Empty
            icon={<SearchX size={20} />}
            title="No message fits"
            action={<Button onClick={() => void navigate({ search: {} })}>Show all messages</Button>}
          >
            Nothing in the log has all of what you asked for.
          </Empty>
        ) : (
          <Empty icon={<Mail size={20} />} title="No mail yet" examples={sendExamples()}>
            Send a first message with a key of yours. It shows up here while this page is open.
          </Empty>
        )}
      </Panel>
    </Screen>
  )
}
