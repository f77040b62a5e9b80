import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Inbox as Icon, Trash2 } from "lucide-react"
import { Suspense, useEffect, useState } from "react"
import { useLive } from "../api/useEventStream.ts"
import { ahead, takeBack, without } from "../api/OptimisticUpdate.ts"
import { merged, newsOf, type Rows } from "../api/PagedList.ts"
import * as queries from "../api/Queries.ts"
import type { SandboxMessage } from "../api/Records.ts"
import { remove } from "../api/Api.ts"
import { usePaced } from "../api/useThrottle.ts"
import { sendExamples } from "../emails/sendExamples.ts"
import { useListKeys } from "../shell/useListKeys.ts"
import { useMay } from "../shell/useSession.ts"
import { Button } from "../ui/controls/Button.tsx"
import { cx } from "../ui/display/cx.ts"
import { Confirm } from "../ui/feedback/Dialog.tsx"
import { Empty } from "../ui/feedback/EmptyState.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"
import { say } from "../ui/feedback/Toasts.tsx"
import { Mail } from "./CapturedMessage.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const ARRIVALS = ["email.delivered"]
const GATHER_MS = 400
/** A quarter of the window, which mail that is looked at and all other screens share. */
const TAIL_MS = 2_000
const POLL_MS = 5_000

/** Mail that was captured instead of sent, as its readers would see it. */
export const Inbox = () => {
  const { id } = useSearch({ from: "/shell/inbox" })
  const navigate = useNavigate({ from: "/inbox" })
  const client = useQueryClient()
  const isAdmin = useMay("admin")
  const mayDelete = useMay("email:send")
  const [emptying, setEmptying] = useState(false)
  const query = useInfiniteQuery(queries.inbox)
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const refresh = () => client.invalidateQueries({ queryKey: ["inbox"], exact: true })
  const catchUp = async () => {
    const before = client.getQueryData<Rows<SandboxMessage>>(queries.inbox.queryKey)
    if (before === undefined) return 1
    const pages = await newsOf(before, queries.inboxPage)
    client.setQueryData<Rows<SandboxMessage>>(
      queries.inbox.queryKey,
      (data) => data && merged(data, { pages, isLeft: true }),
    )
    return pages.length
  }
  const { ask } = usePaced(catchUp, { every_ms: TAIL_MS, gather_ms: GATHER_MS })
  useLive({ types: ARRIVALS, enabled: isAdmin, onBegin: ask, onEvent: ask })
  useEffect(() => {
    if (isAdmin) return undefined
    const poll = window.setInterval(ask, POLL_MS)
    return () => window.clearInterval(poll)
  }, [ask, isAdmin])
  const open = (next: SandboxMessage | undefined) =>
    void navigate({ search: next === undefined ? {} : { id: next.id }, replace: true })
  const at = useListKeys(rows.length, { open: (nth) => open(rows[nth]), show: (nth) => open(rows[nth]) })
  useEffect(() => {
    if (at >= 0) document.getElementById(`mail-${rows[at]?.id ?? ""}`)?.scrollIntoView({ block: "nearest" })
  }, [at, rows])
  const chosen = rows.find((row) => row.id === id) ?? rows[0]
  const drop = useMutation({
    mutationFn: (gone: string) => remove(`/sandbox/messages/${gone}`),
    onMutate: (gone) => {
      open(undefined)
      return ahead(client, queries.inbox.queryKey, without<SandboxMessage>(gone))
    },
    onSuccess: ask,
    onError: takeBack,
  })
  return (
    <Screen
      wide
      title="Inbox"
      hint="Captured instead of sent; kept for seven days."
      actions={
        rows.length === 0 || !mayDelete ? undefined : (
          <Button icon={<Trash2 size={14} />} onClick={() => setEmptying(true)}>
            Empty the inbox
          </Button>
        )
      }
    >
      {query.isPending ? (
        <Panel>
          <SkeletonRows />
        </Panel>
      ) : query.data === undefined ? (
        <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
      ) : rows.length === 0 ? (
        <Panel>
          <Empty icon={<Icon size={20} />} title="The inbox is empty" examples={sendExamples()}>
            Whatever you send while mail is captured lands here, whoever it is for.
          </Empty>
        </Panel>
      ) : (
        <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <Panel className="overflow-hidden lg:sticky lg:top-6">
            <ul
              aria-label="Captured mail"
              className="max-h-[40vh] divide-y divide-line overflow-y-auto lg:max-h-[calc(100dvh-10rem)]"
            >
              {rows.map((row) => (
                <li key={row.id} id={`mail-${row.id}`}>
                  <button
                    type="button"
                    aria-current={row === chosen}
                    onClick={() => open(row)}
                    className={cx(
                      "block w-full px-4 py-2.5 text-left focus-visible:-outline-offset-2",
                      row === chosen ? "bg-hover" : "hover:bg-hover",
                    )}
                  >
                    <span className="flex items-baseline gap-2">
                      <span className="min-w-0 grow truncate text-sm font-medium">
                        <Foreign text={row.recipients.join(", ")} />
                      </span>
                      <span className="shrink-0 text-xs text-ink-3">
                        <Time iso={row.created_at} />
                      </span>
                    </span>
                    <span className="block truncate text-sm text-ink-2">
                      {row.subject === "" ? "No subject" : <Foreign text={row.subject} />}
                    </span>
                  </button>
                </li>
              ))}
              {query.hasNextPage ? (
                <li className="p-2 text-center">
                  <Button small look="quiet" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                    Older
                  </Button>
                </li>
              ) : undefined}
            </ul>
          </Panel>
          {chosen === undefined ? undefined : (
            <Suspense
              key={chosen.id}
              fallback={
                <Panel>
                  <SkeletonRows />
                </Panel>
              }
            >
              <Mail id={chosen.id} onRemove={mayDelete ? () => drop.mutate(chosen.id) : undefined} />
            </Suspense>
          )}
        </div>
      )}
      <Confirm
        open={emptying}
        onOpenChange={setEmptying}
        title="Empty the inbox?"
        action="Delete all of it"
        onConfirm={async () => {
          await remove("/sandbox/messages")
          open(undefined)
          await refresh()
          say("The inbox is empty.")
        }}
      >
        The captured mail of this account is deleted. The log keeps what happened.
      </Confirm>
    </Screen>
  )
}
