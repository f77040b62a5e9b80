import { useRouter } from "@tanstack/react-router"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import {
  Ban,
  BookOpen,
  CalendarClock,
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
import * as Stored from "../api/Stored.ts"
import type { Scope } from "../api/Records.ts"
import { permits } from "@waybill/domain/account/permits"
import * as EmailTotals from "../emails/search/EmailTotals.ts"
import { PaletteEmail } from "../emails/search/PaletteEmail.tsx"
import { useEmailHits } from "../emails/search/useEmailHits.ts"
import { useSearchContext } from "../emails/search/useSearchContext.ts"
import { setTheme, useIsDark } from "../session/Theme.ts"
import { useReschedule } from "../session/useReschedule.ts"
import { useSession } from "../session/useSession.ts"
import { useSignOut } from "../session/useSignOut.ts"
import { useSuppress } from "../session/useSuppress.ts"
import { useSuppressionOf } from "../session/useSuppressionOf.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { type Command, type Go, ICON } from "./LineCommands.tsx"
import * as LineCommands from "./LineCommands.tsx"
import * as LineOrders from "./LineOrders.ts"
import { matchesWords } from "./matchesWords.ts"
import * as Navigation from "./Navigation.ts"
import { useRecords } from "./useRecords.ts"

interface Commands {
  readonly commands: ReadonlyArray<Command>
  /** Name of the only thing that was found, if no screen or action has the text: Enter opens it. */
  readonly only: string | undefined
  /** State of the search for emails, or empty. */
  readonly status: string
}

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

/** Words by which people look for the other theme. */
const THEMES = ["dark mode", "light mode", "night mode", "theme", "appearance"]

/** The path of the screen of an email. */
const EMAIL = /^\/emails\/msg_[0-9a-z]{26}$/u

/** Shortest text whose names may be those of keys and templates. */
const MIN_CHARS = 2

export const useCommands = (text: string): Commands => {
  const { history } = useRouter()
  const { session } = useSession()
  const isDark = useIsDark()
  const query = text.trim()
  const order = useMemo(
    () => (permits(session.scopes, "email:send") ? LineOrders.ofMail(query, Date.now()) : undefined),
    [query, session],
  )
  const sought = order?.sought ?? query
  const { context } = useSearchContext(query.length >= MIN_CHARS)
  const search = useMemo(() => LineCommands.searchOf(sought, context), [sought, context])
  const hits = useEmailHits([{ text: sought, filters: { ...order?.filters, ...search.filters } }])
  const { emails } = hits
  const meant = useMemo(() => LineCommands.meantOf(query, context), [query, context])
  const foundNone = hits.isSearched && emails.length === 0
  const meantHits = useEmailHits(meant.isQuestion || foundNone ? meant.searches : [])
  const { text: meantText } = meantHits
  const hasMeant = meantHits.emails.length > 0
  const meantCount = meantHits.isPending
    ? ""
    : EmailTotals.text({ count: meantHits.emails.length, is_exact: !meantHits.hasMore })
  const signOut = useSignOut()
  const suppress = useSuppress()
  const reschedule = useReschedule()
  const address = LineCommands.addressIn(query)
  const records = useRecords(query, address === undefined && !hits.isPending)
  // It is asked for once typing pauses, as the emails are.
  const suppression = useSuppressionOf(address, !hits.isPending)
  const found = useMemo(() => {
    const [email] = EMAIL.exec(history.location.pathname) ?? []
    const go: Go = (to, parameters) => () => history.push(Paths.pathWith(to, parameters))
    const screens = Navigation.ALL_SCREENS.filter(
      (screen) =>
        Navigation.isVisible(screen, session) &&
        (matchesWords(screen.name, query) || Navigation.isMeant(screen, query)),
    ).map((screen): Command => {
      const { icon: Icon, key, name, to } = screen
      const sought = Navigation.searchIn(screen, query)
      return {
        name: sought === undefined ? name : `${name}: ${sought.shown}`,
        icon: <Icon size={ICON} />,
        keys: ["g", key],
        run: go(to, sought?.search),
      }
    })
    const actions: ReadonlyArray<Command> = [
      ...CREATING.filter(([, , scope]) => permits(session.scopes, scope)).map(([name, icon, , to]): Command => ({
        name,
        icon,
        run: go(to, { new: "true" }),
      })),
      ...(permits(session.scopes, "webhooks:manage")
        ? [
            {
              name: "Failing webhooks",
              keywords: ["failed webhooks", "webhooks fail", "webhook fails", "broken webhooks"],
              icon: <Webhook size={ICON} />,
              run: go("/webhooks", { status: "failing" }),
            },
          ]
        : []),
      ...(email !== undefined && permits(session.scopes, "email:send")
        ? [{ name: "Resend this email", icon: <Send size={ICON} />, run: go(email, { resend: "true" }) }]
        : []),
      { name: "Docs", icon: <BookOpen size={ICON} />, run: () => openPage("/docs") },
      {
        name: "Sign out",
        keywords: ["log out", "logout"],
        icon: <LogOut size={ICON} />,
        run: () => void signOut(),
      },
      isDark
        ? { name: "Use light theme", keywords: THEMES, icon: <Sun size={ICON} />, run: () => setTheme("light") }
        : { name: "Use dark theme", keywords: THEMES, icon: <Moon size={ICON} />, run: () => setTheme("dark") },
    ]
    const matches = [
      ...screens,
      ...actions.filter((action) => matchesWords(action.name, query) || Navigation.isMeant(action, query)),
    ].map((command): Command => ({ ...command, isNamed: true }))
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
    const named = records.map((record) => LineCommands.ofRecord(record, go))
    const docs: Command = {
      name: `Docs about “${query}”`,
      icon: <BookOpen size={ICON} />,
      run: () => openPage(Paths.pathWith("/docs/search", { q: query })),
    }
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
        : LineCommands.ofAddress(
            address,
            canRead && !LineCommands.isSuppress(query),
            suppression,
            canSuppress ? suppress : undefined,
            go,
          )
    // An address alone comes first, and one within a question after what the question means.
    const isQuestion = address !== query && !LineCommands.isSuppress(query)
    const ofStatus = canRead ? LineCommands.ofStatus(query, go) : []
    // A state alone has a command of its own, and a reading that finds nothing comes last, or not where anything else is found.
    const isMeant =
      canRead &&
      meantText !== "" &&
      (hasMeant || (meant.isQuestion && emails.length + matches.length === 0)) &&
      !(ofStatus.length > 0 && /^(?:is|anyone):\S+$/u.test(meantText))
    const isFirst = isMeant && (hasMeant || meantHits.isPending)
    const ofMeaning = isMeant ? [LineCommands.ofMeant(meantText, meantCount, go)] : []
    const isElsewhere = isMeant || matches.length + named.length + ofAddress.length > 0
    const ofWaiting = permits(session.scopes, "email:send") ? LineCommands.cancel(query, go) : []
    return {
      isElsewhere: isElsewhere || ofWaiting.length > 0,
      only: others.length === 0 && ofAddress.length === 0 && ofWaiting.length === 0 ? only?.name : undefined,
      commands: [
        ...searches,
        ...(order === undefined ? [] : mails),
        ...(isQuestion ? [] : ofAddress),
        ...(LineCommands.isCancel(query) ? ofWaiting : []),
        ...matches,
        ...(isFirst ? ofMeaning : ofStatus),
        ...(isQuestion ? ofAddress : []),
        ...named,
        ...(isFirst ? [] : ofMeaning),
        ...LineCommands.ofText(sought, search.text, go),
        ...(LineCommands.isCancel(query) ? [] : ofWaiting),
        ...(order === undefined ? mails : []),
        ...(query === "" ? [] : [docs]),
      ],
    }
  }, [
    address,
    emails,
    hasMeant,
    isDark,
    history,
    meant,
    meantCount,
    meantHits.isPending,
    meantText,
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
  return { ...found, status: foundNone && found.isElsewhere ? "" : LineCommands.statusOf(hits) }
}

const openPage = (path: string): void => void window.open(path, "_blank", "noopener")

/** How the emails of a line are shown with which something is done. */
const ORDERS = {
  resend: { icon: <Send size={ICON} />, name: () => "Resend" },
  reschedule: {
    icon: <CalendarClock size={ICON} />,
    name: ({ at }: LineOrders.MailOrder) => (at === undefined ? "Reschedule" : `To ${SearchDates.show(at)}`),
  },
}
