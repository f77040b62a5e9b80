import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Inbox as Icon, Trash2 } from "lucide-react"
import { Suspense, useEffect, useState } from "react"
import { useEventStream } from "../live/useEventStream.ts"
import { instance } from "../api/instance.ts"
import * as Mode from "../api/Mode.ts"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import * as PagedList from "../api/PagedList.ts"
import * as Queries from "../api/Queries.ts"
import type { SandboxMessage } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useThrottle } from "../live/useThrottle.ts"
import { FirstEmail } from "../firstEmail/FirstEmail.tsx"
import { useListKeys } from "../session/useListKeys.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { cx } from "../ui/display/cx.ts"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { ListAndDetail } from "../ui/layout/ListAndDetail.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { SandboxMail } from "./SandboxMail.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const EVENT_TYPES = ["email.delivered"] as const
/** Messages that arrive within this time are read together. */
const DEBOUNCE_MS = 400
/** Time per request of live updates: half of what a key may read, the rest is left to the user. */
const UPDATE_INTERVAL_MS = 2_000
/** Refetch interval for users without access to the event stream. */
const POLL_MS = 5_000

/** Messages that were kept instead of delivered. */
export const Sandbox = () => {
  const { id } = useSearch({ from: "/shell/sandbox" })
  const navigate = useNavigate({ from: "/sandbox" })
  const days = Mode.useIsTest() ? instance.sandboxDays.test : instance.sandboxDays.live
  const client = useQueryClient()
  const canStream = useHasScope("events:read")
  const canDelete = useHasScope("email:send")
  const [emptying, setEmptying] = useState(false)
  const query = useInfiniteQuery(Queries.sandbox)
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const refresh = () => client.invalidateQueries({ queryKey: ["sandbox"], exact: true })
  const update = async () => {
    const list = client.getQueryData<PagedList.PagedList<SandboxMessage>>(Queries.sandbox.queryKey)
    if (list === undefined) return 1
    const pages = await PagedList.fetchNewest(list, Queries.sandboxPage)
    client.setQueryData<PagedList.PagedList<SandboxMessage>>(
      Queries.sandbox.queryKey,
      (current) => current && PagedList.merge(current, { pages, canShrink: true }),
    )
    return pages.length
  }
  const { trigger } = useThrottle(update, { interval_ms: UPDATE_INTERVAL_MS, debounce_ms: DEBOUNCE_MS })
  useEventStream({ types: EVENT_TYPES, enabled: canStream, onStart: trigger, onEvent: trigger })
  useEffect(() => {
    if (canStream) return undefined
    const poll = window.setInterval(trigger, POLL_MS)
    return () => window.clearInterval(poll)
  }, [canStream, trigger])
  const select = (next: SandboxMessage | undefined) =>
    // A phone goes back from the mail to the list.
    void navigate({ search: next === undefined ? {} : { id: next.id }, replace: id !== undefined })
  const keyIndex = useListKeys(rows.length, {
    open: (index) => select(rows[index]),
    show: (index) => select(rows[index]),
  })
  useEffect(() => {
    if (keyIndex >= 0) document.getElementById(`mail-${rows[keyIndex]?.id ?? ""}`)?.scrollIntoView({ block: "nearest" })
  }, [keyIndex, rows])
  const selected = rows.find((row) => row.id === id) ?? rows[0]
  const deletion = useMutation({
    mutationFn: (removedId: string) => Api.remove(`/sandbox/messages/${removedId}`),
    onMutate: (removedId) => {
      select(undefined)
      return OptimisticUpdate.apply(
        client,
        Queries.sandbox.queryKey,
        OptimisticUpdate.withoutRow<SandboxMessage>(removedId),
      )
    },
    onSuccess: trigger,
    onError: OptimisticUpdate.rollBack,
  })
  return (
    <Screen
      title="Sandbox"
      hint={`Mail is kept here and never delivered. Deleted after ${days === 1 ? "one day" : `${days} days`}.`}
      actions={
        rows.length === 0 || !canDelete ? undefined : (
          <Button icon={<Trash2 size={14} />} onClick={() => setEmptying(true)}>
            Delete all
          </Button>
        )
      }
    >
      {query.isPending ? (
        <Panel>
          <SkeletonRows />
        </Panel>
      ) : query.data === undefined ? (
        <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
      ) : rows.length === 0 ? (
        <Panel>
          <EmptyState icon={<Icon size={20} />} title="No mail in the sandbox yet" action={<FirstEmail />}>
            Every email you send appears here, whatever its recipient. Send the first one:
          </EmptyState>
        </Panel>
      ) : (
        <ListAndDetail
          label="Mail of the sandbox"
          isChosen={id !== undefined}
          onBack={() => select(undefined)}
          rows={
            <>
              {rows.map((row) => (
                <li key={row.id} id={`mail-${row.id}`}>
                  <button
                    type="button"
                    aria-current={row === selected}
                    onClick={() => select(row)}
                    className={cx(
                      "block w-full px-4 py-2.5 text-left focus-visible:-outline-offset-2",
                      row === selected ? "lg:bg-hover" : "hover:bg-hover",
                    )}
                  >
                    <span className="flex items-baseline gap-2">
                      <span className="min-w-0 grow truncate text-sm font-medium">
                        <UntrustedText text={row.recipients.join(", ")} />
                      </span>
                      <span className="shrink-0 text-xs text-ink-3">
                        <RelativeTime iso={row.created_at} />
                      </span>
                    </span>
                    <span className="block truncate text-sm text-ink-2">
                      {row.subject === "" ? "No subject" : <UntrustedText text={row.subject} />}
                    </span>
                  </button>
                </li>
              ))}
              {query.hasNextPage ? (
                <li className="p-2 text-center">
                  <Button
                    small
                    variant="ghost"
                    busy={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    Load more
                  </Button>
                </li>
              ) : undefined}
            </>
          }
          detail={
            selected === undefined ? undefined : (
              <Suspense
                key={selected.id}
                fallback={
                  <Panel>
                    <SkeletonRows />
                  </Panel>
                }
              >
                <SandboxMail id={selected.id} onDelete={canDelete ? () => deletion.mutate(selected.id) : undefined} />
              </Suspense>
            )
          }
        />
      )}
      <ConfirmDialog
        open={emptying}
        onOpenChange={setEmptying}
        title="Empty the sandbox?"
        action="Delete all"
        onConfirm={async () => {
          await Api.remove("/sandbox/messages")
          select(undefined)
          await refresh()
          showToast("Sandbox emptied.")
        }}
      >
        All mail of this account is deleted from the sandbox. The email log is retained.
      </ConfirmDialog>
    </Screen>
  )
}
