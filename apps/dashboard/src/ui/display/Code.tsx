import { useState } from "react"
import { CopyButton } from "../controls/CopyButton.tsx"
import { cx } from "./cx.ts"

export interface Example {
  readonly name: string
  readonly code: string
}

export const CodeBlock = ({ code, label }: { readonly code: string; readonly label: string }) => (
  <div className="relative rounded-xl border border-line bg-sunken">
    <pre
      tabIndex={0}
      aria-label={label}
      className="overflow-x-auto p-4 pr-12 font-mono text-xs leading-relaxed text-ink"
    >
      {code}
    </pre>
    <CopyButton text={code} label="Copy code" className="absolute top-2.5 right-2.5" />
  </div>
)

/** One code example in several languages, with tabs. */
export const CodeExamples = ({ examples }: { readonly examples: ReadonlyArray<Example> }) => {
  const [selected, setSelected] = useState(examples[0]?.name)
  const active = examples.find(({ name }) => name === selected) ?? examples[0]
  if (active === undefined) return undefined
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-sunken">
      <div role="tablist" aria-label="Language" className="flex items-center gap-1 border-b border-line px-2 py-1.5">
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
        <span className="grow" />
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
