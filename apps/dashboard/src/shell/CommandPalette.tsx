import { Dialog } from "@base-ui/react/dialog"
import { useRouter } from "@tanstack/react-router"
import { ArrowRight, BookOpen, Globe, KeyRound, LogOut, Mail, Moon, Search, Sun, UserPlus, Webhook } from "lucide-react"
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useState } from "react"
import * as Paths from "../api/Paths.ts"
import { permits } from "../early/permits.ts"
import { PaletteEmail } from "../emails/search/PaletteEmail.tsx"
import type { EmailFilters } from "../emails/search/EmailFilters.ts"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as SearchText from "@waybill/domain/search/SearchText"
import { type EmailHits, useEmailHits } from "../emails/search/useEmailHits.ts"
import { cx } from "../ui/display/cx.ts"
import { Kbd } from "../ui/display/Kbd.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import * as Navigation from "./Navigation.ts"
import { setTheme, useIsDark } from "../session/Theme.ts"
import { useSession } from "../session/useSession.ts"
import { useSignOut } from "../session/useSignOut.ts"
import { useRecords } from "./useRecords.ts"

interface Command {
  /** Unique among the commands that are shown. */
  readonly name: string
  /** Shown instead of the name. */
  readonly content?: ReactNode
  readonly icon: ReactNode
  readonly keys?: ReadonlyArray<string>
  readonly run: () => void
}

const ICON = 15

type Go = (to: string, search?: Readonly<Record<string, string>>) => () => void

interface Commands {
  readonly commands: ReadonlyArray<Command>
  /** State of the search for emails, or empty. */
  readonly status: string
}

const useCommands = (text: string): Commands => {
  const { history } = useRouter()
  const { session } = useSession()
  const isDark = useIsDark()
  const query = text.trim()
  const search = useMemo(() => searchOf(query), [query])
  const hits = useEmailHits(query, search.filters)
  const { emails } = hits
  const records = useRecords(query)
  const signOut = useSignOut()
  const commands = useMemo(() => {
    const go: Go = (to, search) => () => history.push(Paths.pathWith(to, search))
    const screens = Navigation.ALL_SCREENS.filter((screen) => Navigation.isVisible(screen, session)).map(
      ({ icon: Icon, key, name, to }): Command => ({
        name,
        icon: <Icon size={ICON} />,
        keys: ["g", key],
        run: go(to),
      }),
    )
    const actions: ReadonlyArray<Command> = [
      ...(permits(session.scopes, "admin")
        ? [{ name: "Create API key", icon: <KeyRound size={ICON} />, run: go("/settings/api-keys", { new: "true" }) }]
        : []),
      ...(permits(session.scopes, "domains:write")
        ? [{ name: "Add domain", icon: <Globe size={ICON} />, run: go("/domains", { new: "true" }) }]
        : []),
      ...(permits(session.scopes, "webhooks:manage")
        ? [{ name: "Create webhook", icon: <Webhook size={ICON} />, run: go("/webhooks", { new: "true" }) }]
        : []),
      ...(permits(session.scopes, "admin")
        ? [{ name: "Invite a member", icon: <UserPlus size={ICON} />, run: go("/settings/members", { new: "true" }) }]
        : []),
      { name: "Docs", icon: <BookOpen size={ICON} />, run: () => openPage("/docs") },
      { name: "Sign out", icon: <LogOut size={ICON} />, run: () => void signOut() },
      isDark
        ? { name: "Use light theme", icon: <Sun size={ICON} />, run: () => setTheme("light") }
        : { name: "Use dark theme", icon: <Moon size={ICON} />, run: () => setTheme("dark") },
    ]
    const matches = [...screens, ...actions].filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()))
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
    const found = emails.map((email): Command => ({
      name: email.id,
      content: <PaletteEmail email={email} filters={search.filters} />,
      icon: <Mail size={ICON} />,
      run: go(`/emails/${email.id}`),
    }))
    return [...matches, ...named, ...searchCommands(query, search.text, go), ...found, ...docs]
  }, [emails, isDark, history, query, records, search, session, signOut])
  return { commands, status: statusOf(hits) }
}

const openPage = (path: string): void => void window.open(path, "_blank", "noopener")

/** The search of a text: its filters if it names one, such as `to:ana`, and the whole text as a phrase otherwise. */
const searchOf = (query: string): { readonly text: string; readonly filters: EmailFilters } => {
  const context = { keys: undefined, now: Date.now(), zone: "local" } as const
  const { filters, isUnderstood } = EmailSearch.parse(query, context)
  const hasField = SearchText.tokensOf(query).some(({ field }) => field !== undefined && SearchText.isField(field))
  if (hasField && isUnderstood) return { text: query, filters }
  const phrase = `"${query.replaceAll('"', "")}"`
  return { text: hasField ? query : phrase, filters: { q: phrase } }
}

const statusOf = ({ emails, hasMore, isPending }: EmailHits): string => {
  if (isPending) return "Searching emails…"
  if (emails.length === 0) return ""
  if (hasMore) return `Newest ${emails.length} emails`
  return emails.length === 1 ? "1 email found" : `${emails.length} emails found`
}

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
    ...(SENDER.test(query)
      ? [{ name: `Emails from ${query}`, icon: mail, run: go("/emails", { search: `from:${query}` }) }]
      : []),
  ]
}

/** An address, or a domain with or without the @. */
const SENDER = /^[^@\s"]*@?[^@\s"]+\.[^@\s.":]+$/u

export const CommandPalette = ({
  onOpenChange,
  open,
}: {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
}) => (
  <Dialog.Root open={open} onOpenChange={onOpenChange}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop fixed inset-0 z-40 bg-black/20 dark:bg-black/50" />
      <Dialog.Popup
        aria-label="Search or run a command"
        className="popup fixed top-[14vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-2xl border border-line bg-raised shadow-float outline-none"
      >
        <CommandSearch onDone={() => onOpenChange(false)} />
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
)

const CommandSearch = ({ onDone }: { readonly onDone: () => void }) => {
  const [text, setText] = useState("")
  const [index, setIndex] = useState(0)
  const { commands, status } = useCommands(text)
  const id = useId()
  const current = commands[Math.min(index, commands.length - 1)]
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onDone()
    command.run()
  }
  useEffect(() => {
    document.getElementById(`${id}-${index}`)?.scrollIntoView({ block: "nearest" })
  }, [id, index])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setIndex((index + step + commands.length) % Math.max(1, commands.length))
    }
    if (event.key === "Enter") {
      event.preventDefault()
      run(current)
    }
  }
  return (
    <>
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search size={16} className="shrink-0 text-ink-3" aria-hidden />
        <input
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={current === undefined ? undefined : `${id}-${commands.indexOf(current)}`}
          aria-label="Search or run a command"
          placeholder="Search screens, actions, addresses, subjects or ids"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setIndex(0)
          }}
          onKeyDown={onKeyDown}
          className="h-12 w-full bg-transparent text-base outline-none placeholder:text-ink-3"
        />
        <Kbd>esc</Kbd>
      </div>
      <ul id={`${id}-list`} role="listbox" aria-label="Results" className="max-h-[46vh] overflow-y-auto p-1.5">
        {commands.map((command, position) => (
          <li
            key={command.name}
            id={`${id}-${position}`}
            role="option"
            aria-selected={command === current}
            onMouseMove={() => setIndex(position)}
            onClick={() => run(command)}
            className={cx(
              "flex min-h-9 cursor-default items-center gap-3 rounded-lg px-3 py-1.5 text-sm",
              command === current && "bg-hover",
            )}
          >
            <span className="text-ink-3">{command.icon}</span>
            {command.content ?? <span className="grow truncate">{command.name}</span>}
            {command.keys?.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </li>
        ))}
        {commands.length === 0 ? <li className="px-3 py-6 text-center text-sm text-ink-3">No results.</li> : undefined}
      </ul>
      <p role="status" className="border-t border-line px-4 py-2 text-xs text-ink-3 empty:sr-only">
        {status}
      </p>
    </>
  )
}
