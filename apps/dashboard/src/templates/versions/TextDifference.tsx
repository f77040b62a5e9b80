import { useMemo } from "react"
import { cx } from "../../ui/display/cx.ts"
import { lineDifference } from "./lineDifference.ts"

interface Props {
  readonly label: string
  readonly before: string
  readonly after: string
}

const NAMES = { "-": "Removed: ", "+": "Added: ", " ": "" } as const

/** Two texts, line by line. */
export const TextDifference = ({ after, before, label }: Props) => {
  const lines = useMemo(() => lineDifference(before, after), [before, after])
  return (
    <pre
      tabIndex={0}
      aria-label={`Changes of ${label}`}
      className="max-h-96 overflow-auto rounded-lg border border-line bg-sunken py-2 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap"
    >
      {lines.map((line, index) =>
        line === null ? (
          <span key={index} className="block px-3 text-ink-3">
            …
          </span>
        ) : (
          <span
            key={index}
            className={cx(
              "block px-3",
              line.sign === "-" && "bg-bad-soft text-bad",
              line.sign === "+" && "bg-good-soft text-good",
            )}
          >
            <span aria-hidden>{line.sign} </span>
            {NAMES[line.sign] === "" ? undefined : <span className="sr-only">{NAMES[line.sign]}</span>}
            {line.text}
          </span>
        ),
      )}
    </pre>
  )
}
