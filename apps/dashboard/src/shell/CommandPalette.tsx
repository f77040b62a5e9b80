import { Dialog } from "@base-ui/react/dialog"
import { useRouter } from "@tanstack/react-router"
import { ArrowRight, Globe, KeyRound, Mail, Moon, Search, Sun, Webhook } from "lucide-react"
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useState } from "react"
import { pathWith } from "../api/Api.ts"
import { cx } from "../ui/display/cx.ts"
import { Kbd } from "../ui/layout/Screen.tsx"
import { ALL_PLACES, isFor, permits } from "./Navigation.ts"
import { choose, useDark } from "./Theme.ts"
import { useSession } from "./useSession.ts"

interface Command {
  readonly name: string
  readonly icon: ReactNode
  readonly keys?: ReadonlyArray<string>
  readonly run: () => void
}

const ICON = 15

type Go = (to: string, search?: Readonly<Record<string, string>>) => () => void

const useCommands = (text: string): ReadonlyArray<Command> => {
  const { history } = useRouter()
  const { may } = useSession()
  const dark = useDark()
  return useMemo(() => {
    const go: Go = (to, search) => () => history.push(pathWith(to, search))
    const places = ALL_PLACES.filter((place) => isFor(place, may)).map(({ icon: Icon, key, name, to }): Command => ({
      name,
      icon: <Icon size={ICON} />,
      keys: ["g", key],
      run: go(to),
    }))
    const actions: ReadonlyArray<Command> = [
      ...(permits(may.scopes, "admin")
        ? [{ name: "New API Key", icon: <KeyRound size={ICON} />, run: go("/settings/api-keys", { new: "true" }) }]
        : []),
      ...(permits(may.scopes, "domains:write")
        ? [{ name: "Add a domain", icon: <Globe size={ICON} />, run: go("/domains", { new: "true" }) }]
        : []),
      ...(permits(may.scopes, "webhooks:manage")
        ? [{ name: "Create a webhook", icon: <Webhook size={ICON} />, run: go("/webhooks", { new: "true" }) }]
        : []),
      dark
        ? { name: "Light theme", icon: <Sun size={ICON} />, run: () => choose("light") }
        : { name: "Dark theme", icon: <Moon size={ICON} />, run: () => choose("dark") },
    ]
    const word = text.trim()
    const found = [...places, ...actions].filter(({ name }) => name.toLowerCase().includes(word.toLowerCase()))
    return [...found, ...lookUps(word, go)]
  }, [dark, history, may, text])
}

/** What a text may stand for besides a name: an id, an address, words of a subject. */
const lookUps = (word: string, go: Go): ReadonlyArray<Command> => {
  if (word === "") return []
  if (/^msg_[0-9a-z]{26}$/u.test(word))
    return [{ name: `Open ${word}`, icon: <ArrowRight size={ICON} />, run: go(`/emails/${word}`) }]
  const mail = <Mail size={ICON} />
  return word.includes("@")
    ? [{ name: `Emails to ${word}`, icon: mail, run: go("/emails", { to: word }) }]
    : [{ name: `Emails with “${word}” in the subject`, icon: mail, run: go("/emails", { subject: word }) }]
}

export const Palette = ({
  onOpenChange,
  open,
}: {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
}) => (
  <Dialog.Root open={open} onOpenChange={onOpenChange}>
    <Dialog.Portal>
      <Dialog.Backdrop className="veil fixed inset-0 z-40 bg-black/20 dark:bg-black/50" />
      <Dialog.Popup
        aria-label="Go to, do or find"
        className="float fixed top-[14vh] left-1/2 z-50 w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-2xl border border-line bg-raised shadow-float outline-none"
      >
        <Finder onDone={() => onOpenChange(false)} />
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
)

const Finder = ({ onDone }: { readonly onDone: () => void }) => {
  const [text, setText] = useState("")
  const [at, setAt] = useState(0)
  const commands = useCommands(text)
  const id = useId()
  const current = commands[Math.min(at, commands.length - 1)]
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onDone()
    command.run()
  }
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" })
  }, [at, id])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((at + step + commands.length) % Math.max(1, commands.length))
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
          aria-label="Go to, do or find"
          placeholder="Go to, do, or find an address, a subject, an id"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
          className="h-12 w-full bg-transparent text-base outline-none placeholder:text-ink-3"
        />
        <Kbd>esc</Kbd>
      </div>
      <ul id={`${id}-list`} role="listbox" aria-label="What there is" className="max-h-[46vh] overflow-y-auto p-1.5">
        {commands.map((command, nth) => (
          <li
            key={command.name}
            id={`${id}-${nth}`}
            role="option"
            aria-selected={command === current}
            onMouseMove={() => setAt(nth)}
            onClick={() => run(command)}
            className={cx(
              "flex h-9 cursor-default items-center gap-3 rounded-lg px-3 text-sm",
              command === current && "bg-hover",
            )}
          >
            <span className="text-ink-3">{command.icon}</span>
            <span className="grow truncate">{command.name}</span>
            {command.keys?.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </li>
        ))}
        {commands.length === 0 ? (
          <li className="px-3 py-6 text-center text-sm text-ink-3">Nothing by that name.</li>
        ) : undefined}
      </ul>
    </>
  )
}
