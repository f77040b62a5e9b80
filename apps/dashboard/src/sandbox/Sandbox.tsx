import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Inbox as Icon, SearchX, Trash2 } from "lucide-react"
import { useState } from "react"
import { instance } from "../api/instance.ts"
import * as Mode from "../api/Mode.ts"
import * as Queries from "../api/Queries.ts"
import type { SandboxMessage } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { delayOf } from "../emails/search/EmailFilters.ts"
import { useSearchContext } from "../emails/search/useSearchContext.ts"
import { FirstEmail } from "../firstEmail/FirstEmail.tsx"
import { useMailList } from "../session/useMailList.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { SEARCH_DELAY_MS, SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { ListAndDetail } from "../ui/layout/ListAndDetail.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { SandboxMail } from "./SandboxMail.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const EVENT_TYPES = ["email.delivered"] as const

/** Messages that were kept instead of delivered. */
export const Sandbox = () => {
  const { id, q = "" } = useSearch({ from: "/shell/sandbox" })
  const navigate = useNavigate({ from: "/sandbox" })
  const days = Mode.useIsTest() ? instance.sandboxDays.test : instance.sandboxDays.live
  const client = useQueryClient()
  const canDelete = useHasScope("email:send")
  const [emptying, setEmptying] = useState(false)
  const { context } = useSearchContext()
  const typed = useTypedText(
    q,
    (next) => void navigate({ search: next === "" ? {} : { q: next }, replace: true }),
    (next) => delayOf(next, context, SEARCH_DELAY_MS),
  )
  const list = Queries.sandbox(q)
  const query = useInfiniteQuery(list)
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const refresh = () => client.invalidateQueries({ queryKey: ["sandbox", "list"] })
  const select = (next: SandboxMessage | undefined) =>
    // A phone goes back from the mail to the list.
    void navigate({
      search: { ...(q === "" ? {} : { q }), ...(next === undefined ? {} : { id: next.id }) },
      replace: id !== undefined,
    })
  const selected = (rows.find((row) => row.id === id) ?? rows[0])?.id
  const remove = useMailList({
    queryKey: list.queryKey,
    fetchPage: (after) => Queries.sandboxPage(q, after),
    types: EVENT_TYPES,
    path: "/sandbox/messages/",
    rows,
    select,
  })
  return (
    <Screen
      title="Sandbox"
      hint={
        <>
          What recipients would have got: mail is kept here and never delivered. Emails has its status. Deleted after{" "}
          {days === 1 ? "one day" : `${days} days`}.
        </>
      }
      actions={
        rows.length === 0 || !canDelete ? undefined : (
          <Button icon={<Trash2 size={14} />} onClick={() => setEmptying(true)}>
            Delete all
          </Button>
        )
      }
    >
      {rows.length === 0 && q === "" && !typed.isPending ? undefined : (
        <SearchField label="Search the sandbox" placeholder="Address, subject, tag or from:acme.com" typed={typed} />
      )}
      <ListAndDetail
        label="Mail of the sandbox"
        query={query}
        rows={rows}
        isLoading={query.isPending}
        empty={
          q === "" ? (
            <EmptyState icon={<Icon size={20} />} title="No mail in the sandbox yet" action={<FirstEmail />}>
              Every email you send appears here, whatever its recipient. Send the first one:
            </EmptyState>
          ) : (
            <EmptyState
              icon={<SearchX size={20} />}
              title="No mail matches your search"
              action={<Button onClick={() => typed.setText("")}>Clear search</Button>}
            >
              The sandbox keeps mail for {days === 1 ? "one day" : `${days} days`}; the email log keeps what became of
              it.
            </EmptyState>
          )
        }
        selected={selected}
        isChosen={id !== undefined}
        onSelect={select}
        lines={(row) => [
          <UntrustedText text={row.recipients.join(", ")} />,
          row.subject === "" ? "No subject" : <UntrustedText text={row.subject} />,
        ]}
        detail={(shown) => <SandboxMail id={shown} onDelete={canDelete ? () => remove(shown) : undefined} />}
      />
      <ConfirmDialog
        open={emptying}
        onClose={() => setEmptying(false)}
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
