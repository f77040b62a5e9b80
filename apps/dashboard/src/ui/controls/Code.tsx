import { useState } from "react"
import { CopyButton } from "./CopyButton.tsx"
import { cx } from "../display/cx.ts"

export interface Example {
  readonly name: string
  readonly code: string
}

interface BlockProps {
  readonly code: string
  readonly label: string
  /** Whether long lines are broken, as those of a message; a command scrolls instead. */
  readonly wraps?: boolean
}

export const CodeBlock = ({ code, label, wraps = false }: BlockProps) => (
  <div className="flex w-full min-w-0 items-start rounded-xl border border-line bg-sunken">
    <pre
      tabIndex={0}
      aria-label={label}
      className={cx(
        "min-w-0 grow overflow-x-auto p-4 font-mono text-xs leading-relaxed text-ink",
        wraps && "wrap-anywhere whitespace-pre-wrap",
      )}
    >
      {code}
    </pre>
    <CopyButton text={code} label="Copy code" className="m-2.5 ml-0" />
  </div>
)

/** One code example in several languages, with tabs. */
export const CodeExamples = ({ examples }: { readonly examples: ReadonlyArray<Example> }) => {
  const [selected, setSelected] = useState(examples[0]?.name)
  const active = examples.find(({ name }) => name === selected) ?? examples[0]
  if (active === undefined) return undefined
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-sunken">
      <div className="flex items-center border-b border-line px-2 py-1.5">
        <div role="tablist" aria-label="Language" className="flex min-w-0 grow items-center gap-1">
          {examples.map(({ name }) => (
            <button
              key={name}
              type="button"
              role="tab"
              aria-selected={name === active.name}
              onClick={() => setSelected(name)}
              className={cx(
                "rounded-md px-2 py-1 text-xs font-medium",
                name === active.name ? "bg-raised text-ink shadow-sm" : "text-ink-2 hover:text-ink",
              )}
            >
              {name}
            </button>
          ))}
        </div>
        <CopyButton text={active.code} label="Copy code" />
      </div>
      <pre
        tabIndex={0}
        aria-label={active.name}
        className="overflow-x-auto p-4 font-mono text-xs leading-relaxed text-ink"
      >
        {active.code}
      </pre>
    </div>
  )
}

/** Indents JSON. Other bodies, and those that were cut, stay as they are. */
export const indented = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
