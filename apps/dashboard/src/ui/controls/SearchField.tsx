import { Search } from "lucide-react"
import { type RefObject, useEffect, useRef, useState } from "react"
import { cx } from "../display/cx.ts"

/** Delay of a search after the last key. */
export const SEARCH_DELAY_MS = 300

export interface TypedText {
  /** The text in the box. */
  readonly text: string
  readonly setText: (text: string) => void
  /** Whether the text differs from the one that is searched for: then what the list shows is no answer to it. */
  readonly isPending: boolean
  readonly commitNow: () => void
}

/**
 * Holds the text that is typed and commits it after a pause, or at once with Enter. Follows the committed text when it
 * changes elsewhere, for example by the Back button. A text without a delay waits for Enter.
 */
export const useTypedText = (
  committed: string,
  commit: (text: string) => void,
  delayOf: (text: string) => number | undefined = () => SEARCH_DELAY_MS,
): TypedText => {
  const [text, setText] = useState(committed)
  const latest = useRef(commit)
  const delay = delayOf(text)
  useEffect(() => {
    latest.current = commit
  })
  useEffect(() => setText(committed), [committed])
  useEffect(() => {
    if (text.trim() === committed || delay === undefined) return undefined
    const path = window.location.pathname
    const timer = setTimeout(() => {
      // The screen may be left already, and is shown until the next one has loaded.
      if (window.location.pathname === path) latest.current(text.trim())
    }, delay)
    return () => clearTimeout(timer)
  }, [committed, delay, text])
  return { text, setText, isPending: text.trim() !== committed, commitNow: () => latest.current(text.trim()) }
}

interface Props {
  readonly label: string
  readonly placeholder: string
  readonly typed: TypedText
  readonly isInvalid?: boolean
  readonly className?: string
  readonly input?: RefObject<HTMLInputElement | null>
}

/** Search box of a list; `/` focuses it. */
export const SearchField = ({
  className = "w-full sm:w-64 xl:w-80",
  input,
  isInvalid = false,
  label,
  placeholder,
  typed,
}: Props) => (
  <label className={cx("relative min-w-0", className)}>
    <span className="sr-only">{label}</span>
    <Search
      size={14}
      className="pointer-events-none absolute top-1/2 left-2.5 -translate-y-1/2 text-ink-3"
      aria-hidden
    />
    <input
      ref={input}
      data-search
      type="search"
      value={typed.text}
      autoCapitalize="none"
      autoComplete="off"
      spellCheck={false}
      aria-invalid={isInvalid || undefined}
      onChange={(event) => typed.setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") typed.commitNow()
      }}
      placeholder={placeholder}
      className="h-8 w-full rounded-lg border border-line-strong bg-raised pr-2 pl-8 text-sm placeholder:text-ink-3 aria-invalid:border-bad"
    />
  </label>
)
