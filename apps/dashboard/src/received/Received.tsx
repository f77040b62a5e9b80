import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { MailOpen, SearchX, Signpost } from "lucide-react"
import { useMemo } from "react"
import { defined } from "../api/defined.ts"
import type { InboundEmail } from "../api/Records.ts"
import { Marked } from "../emails/search/Marked.tsx"
import * as SearchText from "@waybill/domain/search/SearchText"
import { useHasScope } from "../session/useHasScope.ts"
import { useMailList } from "../session/useMailList.ts"
import { Button } from "../ui/controls/Button.tsx"
import { SearchField, useTypedText } from "../ui/controls/SearchField.tsx"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { Results } from "../ui/feedback/Results.tsx"
import { useRows } from "../ui/layout/PagedRows.tsx"
import { ListAndDetail } from "../ui/layout/ListAndDetail.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { ReceivedMail } from "./ReceivedMail.tsx"
import * as ReceivedQueries from "./ReceivedQueries.ts"
import { instance } from "../api/instance.ts"
import { ReceiveCommand } from "../firstEmail/ReceiveCommand.tsx"

const EVENT_TYPES = ["email.received"] as const

/** Mail that came in for the domains of the account. */
export const Received = () => {
  const { id, q } = useSearch({ from: "/shell/received" })
  const navigate = useNavigate({ from: "/received" })
  const canDelete = useHasScope("inbound:write")
  const found = ReceivedQueries.list(q)
  const query = useInfiniteQuery(found)
  const { isLoading, rows } = useRows(query)
  const words = useMemo(() => SearchText.tokensOf(q ?? "").map(({ value }) => value), [q])
  const select = (next: InboundEmail | undefined) =>
    // A phone goes back from the mail to the list.
    void navigate({ search: defined({ q, id: next?.id }), replace: id !== undefined })
  // The first mail that is found is shown.
  const search = (text: string) => void navigate({ search: text === "" ? {} : { q: text }, replace: true })
  const typed = useTypedText(q ?? "", search)
  const selected = id ?? rows[0]?.id
  const remove = useMailList({
    queryKey: found.queryKey,
    fetchPage: (after) => ReceivedQueries.page(q, after),
    types: EVENT_TYPES,
    path: "/inbound/",
    rows,
    select,
  })
  return (
    <Screen
      title="Received"
      hint="Mail that came in for your domains."
      actions={
        canDelete ? (
          <Link
            to="/routes"
            className="inline-flex h-8 items-center gap-1.5 rounded-lg border border-line-strong bg-raised px-3 text-sm font-medium hover:bg-hover"
          >
            <Signpost size={15} aria-hidden />
            Routes
          </Link>
        ) : undefined
      }
    >
      {q === undefined && typed.text === "" && rows.length === 0 ? undefined : (
        <SearchField label="Search received mail" placeholder="Sender, recipient or subject" typed={typed} />
      )}
      <Results isPending={typed.isPending}>
        <ListAndDetail
          label="Received mail"
          query={query}
          rows={rows}
          isLoading={isLoading}
          empty={
            q === undefined ? (
              <EmptyState icon={<MailOpen size={20} />} title="No mail yet" action={<NoMail />}>
                Mail to your addresses appears here as it arrives.
              </EmptyState>
            ) : (
              <EmptyState
                icon={<SearchX size={20} />}
                title="No mail matches your search"
                action={<Button onClick={() => search("")}>Clear search</Button>}
              >
                Each word must be part of the subject, or of the name or address of a sender or recipient.
              </EmptyState>
            )
          }
          selected={selected}
          isChosen={id !== undefined}
          onSelect={select}
          lines={(row) => linesOf(row, words)}
          detail={(shown) => <ReceivedMail id={shown} onDelete={canDelete ? () => remove(shown) : undefined} />}
        />
      </Results>
    </Screen>
  )
}

/** The lines of a mail in the list. Words that the list was searched for are marked. */
const linesOf = ({ envelope, from, subject }: InboundEmail, words: ReadonlyArray<string>) => {
  const address = from?.address ?? envelope.from
  return [
    <Marked text={from?.name || (address === "" ? "No sender" : address)} parts={words} />,
    subject === null || subject === "" ? "No subject" : <Marked text={subject} parts={words} />,
    <>
      {/* The address of a sender without a name stands above already. */}
      {from?.name && address !== "" ? <Marked text={address} parts={words} /> : undefined} →{" "}
      <Marked text={envelope.to.join(", ")} parts={words} />
    </>,
  ] as const
}

/** How the first mail comes in: by a command, or by a domain that receives where this server is not the one for mail. */
const NoMail = () =>
  instance.mail === null ? (
    <p className="text-sm text-ink-2">Open a domain under Domains, and turn on “Receive mail”.</p>
  ) : (
    <div className="w-full max-w-2xl">
      <ReceiveCommand />
    </div>
  )
