import { UntrustedText } from "../ui/display/UntrustedText.tsx"

/** A row of numbers above a table. */
export const Figures = ({ figures }: { readonly figures: ReadonlyArray<readonly [label: string, value: string]> }) => (
  <dl className="grid grid-cols-2 gap-3 border-b border-line p-4 sm:grid-cols-4">
    {figures.map(([label, value]) => (
      <div key={label} className="min-w-0">
        <dt className="text-xs text-ink-3">{label}</dt>
        <UntrustedText as="dd" className="truncate text-sm font-medium" title={value} text={value} />
      </div>
    ))}
  </dl>
)
