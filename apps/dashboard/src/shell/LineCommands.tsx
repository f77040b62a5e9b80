import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import * as SearchText from "@waybill/domain/search/SearchText"
import { ArrowRight, Ban, CircleX, Mail } from "lucide-react"
import type { ReactNode } from "react"
import type { Suppression } from "../api/Records.ts"
import type { EmailFilters } from "../emails/search/EmailFilters.ts"
import type { EmailHits } from "../emails/search/useEmailHits.ts"
import * as SuppressionReason from "../ui/display/SuppressionReason.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import * as LineOrders from "./LineOrders.ts"
import { matchesWords } from "./matchesWords.ts"
import type { Found } from "./useRecords.ts"

export interface Command {
  /** Unique among the commands that are shown. */
  readonly name: string
  /** Shown instead of the name. */
  readonly content?: ReactNode
  readonly icon: ReactNode
  readonly keys?: ReadonlyArray<string>
  /** Other words by which people look for it. */
  readonly keywords?: ReadonlyArray<string>
  /** Whether it is a screen or an action by its name, so that the text that found it is no search to remember. */
  readonly isNamed?: boolean
  /** The search that it repeats. */
  readonly search?: string
  readonly run: () => void
}

/** Size of icons. */
export const ICON = 15

export type Go = (to: string, search?: Readonly<Record<string, string>>) => () => void

/** The search of a text, as the list of emails understands it, or of the whole text as a phrase if that does not. */
export const searchOf = (
  query: string,
  context: EmailSearch.Context,
): { readonly text: string; readonly filters: EmailFilters } => {
  const { filters, isUnderstood } = EmailSearch.parse(query, context)
  if (isUnderstood) return { text: query, filters }
  const hasField = SearchText.tokensOf(query).some(({ field }) => field !== undefined && SearchText.isField(field))
  const phrase = `"${query.replaceAll('"', "")}"`
  return { text: hasField ? query : phrase, filters: { q: phrase } }
}

/** Begins a line that is a command, and no question. */
const COMMANDING = /^(?:cancel|resend|reschedule|send again|suppress|block|stop) /iu

/** The searches that the words probably mean, and whether they are a question. */
export const meantOf = (query: string, context: EmailSearch.Context) => {
  if (COMMANDING.test(query)) return { searches: [], isQuestion: false }
  const searches = MeantSearch.readingsOf(query, context).map((text) => ({
    text,
    filters: EmailSearch.parse(text, context).filters,
  }))
  return { searches, isQuestion: MeantSearch.meantBy(query, context) !== undefined }
}

/** Shows how a question is read, with the number of emails. */
export const ofMeant = (search: string, count: string, go: Go): Command => ({
  name: `Emails: ${search}`,
  content: (
    <>
      <span className="min-w-0 grow truncate">
        Emails: <UntrustedText text={search} />
      </span>
      <span className="shrink-0 text-xs text-ink-3">{count}</span>
    </>
  ),
  icon: <Mail size={ICON} />,
  run: go("/emails", { search }),
})

/** An address, or a domain with or without the @. */
const SENDER = /^[^@\s"]*@?[^@\s"]+\.[^@\s.":]+$/u

/** Begins a line that suppresses an address, and one that cancels emails. */
const SUPPRESSING = /^(?:suppress|block|stop) /iu
const CANCELING = /^cancel /iu
/** Begins a line of somebody who looks for a way to stop all mail: what waits can be canceled. */
const PAUSING = /^(?:pause|stop) sending/iu

export const isSuppress = (line: string): boolean => SUPPRESSING.test(line)

/** Returns the address that a line asks about or would suppress: "is ana@acme.com suppressed?". Other commands have none. */
export const addressIn = (line: string): string | undefined =>
  COMMANDING.test(line) && !isSuppress(line)
    ? undefined
    : line
        .split(" ")
        .map((word) => word.replace(/[?!,.]$/u, ""))
        .find(EmailSearch.isAddress)

export const isCancel = (line: string): boolean => CANCELING.test(line)

/** Cancels the emails that a line means, after the list has asked. */
export const cancel = (line: string, go: Go): ReadonlyArray<Command> => {
  const search = LineOrders.waiting(PAUSING.test(line) ? "cancel scheduled" : line, Date.now())
  return search === undefined
    ? []
    : [
        {
          name: `Cancel emails: ${search}`,
          icon: <CircleX size={ICON} />,
          run: go("/emails", { search, cancel: "true" }),
        },
      ]
}

export const ofRecord = ({ icon: Icon, kind, name, search, to }: Found, go: Go): Command => ({
  name: `${kind} ${to} ${name}`,
  content: (
    <>
      <UntrustedText className="min-w-0 grow truncate" text={name} />
      <span className="shrink-0 text-xs text-ink-3">{kind}</span>
    </>
  ),
  icon: <Icon size={ICON} />,
  run: go(to, search),
})

/** Questions about an address: mail to it, whether it is suppressed, and mail from it. */
export const ofAddress = (
  address: string,
  canRead: boolean,
  suppression: Suppression | null | undefined,
  suppress: ((address: string) => void) | undefined,
  go: Go,
): ReadonlyArray<Command> => {
  const [mail, ban] = [<Mail size={ICON} />, <Ban size={ICON} />]
  const commands = [
    canRead && { name: `Mail to ${address}`, icon: mail, run: go("/emails", { search: `to:${address}` }) },
    suppression === null && suppress && { name: `Suppress ${address}`, icon: ban, run: () => suppress(address) },
    suppression && {
      name: SuppressionReason.sentenceOf(suppression),
      icon: ban,
      run: go("/suppressions", { q: suppression.email }),
    },
    canRead && { name: `Emails from ${address}`, icon: mail, run: go("/emails", { search: `from:${address}` }) },
  ]
  return commands.filter((each) => typeof each === "object" && each !== null)
}

/** Emails in a state that the query names: "bounc" offers "Bounced emails". */
export const ofStatus = (query: string, go: Go): ReadonlyArray<Command> => {
  const [first = ""] = query.split(/\s+/u)
  return first.length < MIN_STATUS_CHARS
    ? []
    : SearchedStatus.OF_EMAILS.flatMap((status): ReadonlyArray<Command> => {
        const name = `${SearchedStatus.nameOf(status)} emails`
        return matchesWords(status, first) && matchesWords(name, query)
          ? [{ name, icon: <Mail size={ICON} />, run: go("/emails", { search: MeantSearch.ofStatuses(status) }) }]
          : []
      })
}

/** Shortest beginning that names a state: fewer letters are in several of them. */
const MIN_STATUS_CHARS = 4

/** Commands that search for the text: as the id of an email or of a request, as a part of its texts, or as its sender. */
export const ofText = (query: string, search: string, go: Go): ReadonlyArray<Command> => {
  if (query === "") return []
  if (/^msg_[0-9a-z]{26}$/u.test(query))
    return [{ name: `Open ${query}`, icon: <ArrowRight size={ICON} />, run: go(`/emails/${query}`) }]
  if (/^req_[0-9a-z]{26}$/u.test(query))
    return [{ name: `Open request ${query}`, icon: <ArrowRight size={ICON} />, run: go(`/requests/${query}`) }]
  const mail = <Mail size={ICON} />
  return [
    { name: `All emails with “${query}”`, icon: mail, run: go("/emails", { search }) },
    ...(SENDER.test(query) && !EmailSearch.isAddress(query)
      ? [{ name: `Emails from ${query}`, icon: mail, run: go("/emails", { search: `from:${query}` }) }]
      : []),
  ]
}

/** Says how many emails were found, or that none was. */
export const statusOf = ({ emails, hasMore, isPending, isSearched }: EmailHits): string => {
  if (isPending) return "Searching emails…"
  if (!isSearched) return ""
  if (emails.length === 0) return "No emails found"
  if (hasMore) return `Newest ${emails.length} emails`
  return emails.length === 1 ? "1 email found" : `${emails.length} emails found`
}
