import { cx } from "../display/cx.ts"

interface Props<Name extends string> {
  readonly label: string
  readonly value: Name
  readonly options: ReadonlyArray<readonly [name: Name, text: string]>
  readonly onChange: (name: Name) => void
}

/** Buttons side by side of which exactly one is selected. */
export const SegmentedControl = <Name extends string>({ label, onChange, options, value }: Props<Name>) => (
  <div role="group" aria-label={label} className="flex rounded-lg border border-line bg-sunken p-0.5">
    {options.map(([name, text]) => (
      <button
        key={name}
        type="button"
        aria-pressed={name === value}
        onClick={() => onChange(name)}
        className={cx(
          "h-7 rounded-md px-2.5 text-xs font-medium",
          name === value ? "bg-raised text-ink shadow-sm" : "text-ink-2 hover:text-ink",
        )}
      >
        {text}
      </button>
    ))}
  </div>
)
