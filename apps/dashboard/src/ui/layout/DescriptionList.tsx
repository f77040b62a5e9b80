import type { ReactNode } from "react"

interface Props {
  /** Items that are `false` are left out. */
  readonly items: ReadonlyArray<readonly [name: string, value: ReactNode] | false>
}

/** Names and values, one pair per line. */
export const DescriptionList = ({ items }: Props) => (
  <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(55%,1fr)] gap-x-4 gap-y-2 p-4 text-sm">
    {items
      .filter((item) => item !== false)
      .map(([name, value]) => (
        <div key={name} className="contents max-sm:has-[.link]:*:py-1.5">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 break-words text-ink">{value}</dd>
        </div>
      ))}
  </dl>
)
