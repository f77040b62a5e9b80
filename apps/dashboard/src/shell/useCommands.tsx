import { useQuery } from "@tanstack/react-query"
import { useRouter } from "@tanstack/react-router"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as MeantSearch from "@waybill/domain/search/MeantSearch"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as SearchText from "@waybill/domain/search/SearchText"
import {
  ArrowRight,
  Ban,
  BookOpen,
  CalendarClock,
  CircleX,
  Globe,
  History,
  KeyRound,
  LayoutTemplate,
  LogOut,
  Mail,
  Moon,
  Send,
  Signpost,
  Sun,
  UserPlus,
  Webhook,
} from "lucide-react"
import { type ReactNode, useMemo } from "react"
import * as Paths from "../api/Paths.ts"
import * as Queries from "../api/Queries.ts"
import * as Stored from "../api/Stored.ts"
import type { Scope, Suppression } from "../api/Records.ts"
import { permits } from "../early/permits.ts"
import type { EmailFilters } from "../emails/search/EmailFilters.ts"
import { PaletteEmail } from "../emails/search/PaletteEmail.tsx"
import { type EmailHits, useEmailHits } from "../emails/search/useEmailHits.ts"
import { setTheme, useIsDark } from "../session/Theme.ts"
import { useReschedule } from "../session/useReschedule.ts"
import { useSession } from "../session/useSession.ts"
import { useSignOut } from "../session/useSignOut.ts"
import { useSuppress } from "../session/useSuppress.ts"
import * as SuppressionReason from "../ui/display/SuppressionReason.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { mailOrder, type MailOrder } from "./mailOrder.ts"
import { matchesWords } from "./matchesWords.ts"
import * as Navigation from "./Navigation.ts"
import { useRecords } from "./useRecords.ts"
import { waitingOf } from "./waitingOf.ts"

export interface Command {
  /** Unique among the commands that are shown. */
  readonly name: string
  /** Shown instead of the name. */
  readonly content?: ReactNode
  readonly icon: ReactNode
  readonly keys?: ReadonlyArray<string>
  /** Whether it is a screen or an action by its name, so that the text that found it is no search to remember. */
  readonly isNamed?: boolean
  /** The search that it repeats. */
  readonly search?: string
  readonly run: () => void
}

interface Commands {
  readonly commands: ReadonlyArray<Command>
  /** Name of the only thing that was found, if no screen or action has the text: Enter opens it. */
  readonly only: string | undefined
  /** State of the search for emails, or empty. */
  readonly status: string
}

const ICON = 15

type Go = (to: string, search?: Readonly<Record<string, string>>) => () => void

/** Dialogs that create something. */
const CREATING: ReadonlyArray<readonly [name: string, icon: ReactNode, scope: Scope, to: string]> = [
  ["Create API key", <KeyRound size={ICON} />, "admin", "/settings/api-keys"],
  ["Add domain", <Globe size={ICON} />, "domains:write", "/domains"],
  ["Create template", <LayoutTemplate size={ICON} />, "templates:write", "/templates"],
  ["Create webhook", <Webhook size={ICON} />, "webhooks:manage", "/webhooks"],
  ["Create route", <Signpost size={ICON} />, "inbound:write", "/routes"],
  ["Add suppression", <Ban size={ICON} />, "suppressions:write", "/suppressions"],
  ["Invite a member", <UserPlus size={ICON} />, "admin", "/settings/members"],
]

export const useCommands = (text: string): Commands => {
  const { history } = useRouter()
  const { session } = useSession()
  const isDark = useIsDark()
  const query = text.trim()
  const order = useMemo(
    () => (permits(session.scopes, "email:send") ? mailOrder(query, Date.now()) : undefined),
    [query, session],
  )
  const sought = order?.sought ?? query
  const search = useMemo(() => searchOf(sought), [sought])
  const hits = useEmailHits(sought, { ...order?.filters, ...search.filters })
  const { emails } = hits
  const meant = useMemo(() => meantOf(query), [query])
  const isMeant = useEmailHits(meant.text, meant.filters).emails.length > 0
  const records = useRecords(query)
  const signOut = useSignOut()
  const suppress = useSuppress()
  const reschedule = useReschedule()
  const address = addressIn(query)
  const suppression = useQuery({
    ...Queries.suppressionOf(address ?? ""),
    // The suppression is asked for once typing pauses, as the emails are.
    enabled: address !== undefined && !hits.isPending && permits(session.scopes, "suppressions:read"),
  }).data
  const found = useMemo(() => {
    const go: Go = (to, parameters) => () => history.push(Paths.pathWith(to, parameters))
    const screens = Navigation.ALL_SCREENS.filter(
      (screen) =>
        Navigation.isVisible(screen, session) &&
        (matchesWords(screen.name, query) || Navigation.isMeant(screen, query)),
    ).map(({ icon: Icon, key, name, to }): Command => ({
      name,
      icon: <Icon size={ICON} />,
      keys: ["g", key],
      run: go(to),
    }))
    const actions: ReadonlyArray<Command> = [
      ...CREATING.filter(([, , scope]) => permits(session.scopes, scope)).map(([name, icon, , to]): Command => ({
        name,
        icon,
        run: go(to, { new: "true" }),
      })),
      { name: "Docs", icon: <BookOpen size={ICON} />, run: () => openPage("/docs") },
      { name: "Sign out", icon: <LogOut size={ICON} />, run: () => void signOut() },
      isDark
        ? { name: "Use light theme", icon: <Sun size={ICON} />, run: () => setTheme("light") }
        : { name: "Use dark theme", icon: <Moon size={ICON} />, run: () => setTheme("dark") },
    ]
    const matches = [...screens, ...actions.filter(({ name }) => matchesWords(name, query))].map(
      (command): Command => ({ ...command, isNamed: true }),
    )
    const searches =
      query === ""
        ? Stored.lastSearches().map((search): Command => ({
            name: `Search again: ${search}`,
            content: <UntrustedText text={search} />,
            icon: <History size={ICON} />,
            search,
            run: () => undefined,
          }))
        : []
    const named = records.map(({ icon: Icon, kind, name, search: filters, to }): Command => ({
      name: `${kind} ${to} ${name}`,
      content: (
        <>
          <span className="min-w-0 grow truncate">
            <UntrustedText text={name} />
          </span>
          <span className="shrink-0 text-xs text-ink-3">{kind}</span>
        </>
      ),
      icon: <Icon size={ICON} />,
      run: go(to, filters),
    }))
    const docs: ReadonlyArray<Command> =
      query === ""
        ? []
        : [
            {
              name: `Docs about “${query}”`,
              icon: <BookOpen size={ICON} />,
              run: () => openPage(Paths.pathWith("/docs/search", { q: query })),
            },
          ]
    const mails = emails.map((email): Command => ({
      name: email.id,
      content: (
        <>
          {order === undefined ? undefined : <span className="shrink-0">{ORDERS[order.kind].name(order)}</span>}
          <PaletteEmail email={email} filters={search.filters} />
        </>
      ),
      icon: order === undefined ? <Mail size={ICON} /> : ORDERS[order.kind].icon,
      run:
        order?.at === undefined
          ? go(`/emails/${email.id}`, order && { [order.kind]: "true" })
          : reschedule(email, order.at),
    }))
    const [only, ...others] = [...matches, ...named, ...mails]
    const canRead = permits(session.scopes, "email:logs:read")
    const canSuppress = permits(session.scopes, "suppressions:write")
    const ofAddress =
      address === undefined
        ? []
        : addressCommands(address, canRead && address === query, suppression, canSuppress ? suppress : undefined, go)
    const ofWaiting = permits(session.scopes, "email:send") ? cancelCommands(query, go) : []
    return {
      only: others.length === 0 && ofAddress.length === 0 && ofWaiting.length === 0 ? only?.name : undefined,
      commands: [
        ...searches,
        ...(order === undefined ? [] : mails),
        ...ofAddress,
        ...(ORDER.test(query) ? ofWaiting : []),
        ...matches,
        ...(isMeant ? [meantCommand(meant.text, go)] : canRead ? statusCommands(query, go) : []),
        ...named,
        ...searchCommands(sought, search.text, go),
        ...(ORDER.test(query) ? [] : ofWaiting),
        ...(order === undefined ? mails : []),
        ...docs,
      ],
    }
  }, [
    address,
    emails,
    isDark,
    history,
    isMeant,
    meant,
    order,
    query,
    records,
    reschedule,
    search,
    session,
    signOut,
    sought,
    suppress,
    suppression,
  ])
  return { ...found, status: statusOf(hits) }
}

const openPage = (path: string): void => void window.open(path, "_blank", "noopener")

/** The search of a text: its filters if it names one, such as `to:ana`, and the whole text as a phrase otherwise. */
const searchOf = (query: string): { readonly text: string; readonly filters: EmailFilters } => {
  const context = { keys: undefined, now: Date.now() }
  const { filters, isUnderstood } = EmailSearch.parse(query, context)
  const hasField = SearchText.tokensOf(query).some(({ field }) => field !== undefined && SearchText.isField(field))
  if (hasField && isUnderstood) return { text: query, filters }
  const phrase = `"${query.replaceAll('"', "")}"`
  return { text: hasField ? query : phrase, filters: { q: phrase } }
}

/** The search that the words of a text probably mean, or an empty one; a state alone has a command of its own. */
const meantOf = (query: string): ReturnType<typeof searchOf> => {
  const context = { keys: undefined, now: Date.now() }
  const text = MeantSearch.meantBy(query, context) ?? ""
  return /^is:\S+$/u.test(text)
    ? { text: "", filters: {} }
    : { text, filters: EmailSearch.parse(text, context).filters }
}

const meantCommand = (search: string, go: Go): Command => ({
  name: `Emails: ${search}`,
  icon: <Mail size={ICON} />,
  run: go("/emails", { search }),
})

const statusOf = ({ emails, hasMore, isPending }: EmailHits): string => {
  if (isPending) return "Searching emails…"
  if (emails.length === 0) return ""
  if (hasMore) return `Newest ${emails.length} emails`
  return emails.length === 1 ? "1 email found" : `${emails.length} emails found`
}

/** A whole address. */
const ADDRESS = /^[^@\s"]+@[^@\s"]+\.[^@\s.":]+$/u
/** An address, or a domain with or without the @. */
const SENDER = /^[^@\s"]*@?[^@\s"]+\.[^@\s.":]+$/u

/** Begins a line that suppresses an address, and one that cancels emails. */
const SUPPRESSING = /^(?:suppress|block|stop) /iu
const ORDER = /^cancel /iu
/** How the emails of a line are shown with which something is done. */
const ORDERS = {
  resend: { icon: <Send size={ICON} />, name: () => "Resend" },
  reschedule: {
    icon: <CalendarClock size={ICON} />,
    name: ({ at }: MailOrder) => (at === undefined ? "Reschedule" : `To ${SearchDates.show(at)}`),
  },
}

/** Returns the address that a line is, or that it would suppress: "stop all mail to ana@acme.com". */
const addressIn = (line: string): string | undefined => {
  const address = SUPPRESSING.test(line) ? line.slice(line.lastIndexOf(" ") + 1) : line
  return ADDRESS.test(address) ? address : undefined
}

/** Cancels the emails that a line means, after the list has asked. */
const cancelCommands = (line: string, go: Go): ReadonlyArray<Command> => {
  const search = waitingOf(line, Date.now())
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

/** Questions about an address: mail to it, whether it is suppressed, and mail from it. */
const addressCommands = (
  address: string,
  canRead: boolean,
  suppression: Suppression | null | undefined,
  suppress: ((address: string) => void) | undefined,
  go: Go,
): ReadonlyArray<Command> => {
  const mail = <Mail size={ICON} />
  return [
    ...(canRead ? [{ name: `Mail to ${address}`, icon: mail, run: go("/emails", { search: `to:${address}` }) }] : []),
    ...(suppression === null && suppress !== undefined
      ? [
          {
            name: `Suppress ${address}`,
            icon: <Ban size={ICON} />,
            run: () => suppress(address),
          },
        ]
      : []),
    ...(suppression
      ? [
          {
            name: SuppressionReason.sentenceOf(suppression),
            icon: <Ban size={ICON} />,
            run: go("/suppressions", { q: suppression.email }),
          },
        ]
      : []),
    ...(canRead
      ? [{ name: `Emails from ${address}`, icon: mail, run: go("/emails", { search: `from:${address}` }) }]
      : []),
  ]
}

/** Emails in a state that the query names: "bounc" offers "Bounced emails". */
const statusCommands = (query: string, go: Go): ReadonlyArray<Command> => {
  const [first = ""] = query.split(/\s+/u)
  return first.length < MIN_STATUS_CHARS
    ? []
    : EmailSearch.EMAIL_STATUSES.flatMap((status): ReadonlyArray<Command> => {
        const name = `${status.slice(0, 1).toUpperCase()}${status.slice(1)} emails`
        return matchesWords(status, first) && matchesWords(name, query)
          ? [
              {
                name,
                icon: <Mail size={ICON} />,
                run: go("/emails", { search: `${status === "scheduled" ? "is" : "anyone"}:${status}` }),
              },
            ]
          : []
      })
}

/** Shortest beginning that names a state: fewer letters are in several of them. */
const MIN_STATUS_CHARS = 4

/** Commands that search for the text: as the id of an email, as a part of its texts, or as its sender. */
const searchCommands = (query: string, search: string, go: Go): ReadonlyArray<Command> => {
  if (query === "") return []
  if (/^msg_[0-9a-z]{26}$/u.test(query))
    return [{ name: `Open ${query}`, icon: <ArrowRight size={ICON} />, run: go(`/emails/${query}`) }]
  const mail = <Mail size={ICON} />
  return [
    {
      name: `All emails with “${query}”`,
      icon: mail,
      run: go("/emails", { search }),
    },
    ...(SENDER.test(query) && !ADDRESS.test(query)
      ? [{ name: `Emails from ${query}`, icon: mail, run: go("/emails", { search: `from:${query}` }) }]
      : []),
  ]
}
