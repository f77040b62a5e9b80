import { Dialog } from "@base-ui/react/dialog"
import { Search } from "lucide-react"
import { type KeyboardEvent, useEffect, useId, useState } from "react"
import * as Stored from "../api/Stored.ts"
import { cx } from "../ui/display/cx.ts"
import { Kbd } from "../ui/display/Kbd.tsx"
import type { Command } from "./LineCommands.tsx"
import { useCommands } from "./useCommands.tsx"

interface Props {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
}

export const CommandPalette = ({ onOpenChange, open }: Props) => (
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
  const [chosen, setIndex] = useState<number>()
  const { commands, only, status } = useCommands(text)
  const id = useId()
  const index =
    chosen ??
    Math.max(
      0,
      commands.findIndex(({ name }) => name === only),
    )
  const current = commands[Math.min(index, commands.length - 1)]
  const change = (next: string) => {
    setText(next)
    setIndex(undefined)
  }
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    if (command.search !== undefined) return change(command.search)
    if (command.isNamed !== true) Stored.rememberSearch(text.trim())
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
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
          className="h-12 w-full bg-transparent text-base outline-none placeholder:text-ink-3"
        />
        <Kbd isHint>esc</Kbd>
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
              <Kbd isHint key={key}>
                {key}
              </Kbd>
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
