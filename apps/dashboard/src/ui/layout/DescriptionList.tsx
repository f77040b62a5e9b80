import type { ReactNode } from "react"

/** Names and values, one pair per line. */
export const DescriptionList = ({
  items,
}: {
  readonly items: ReadonlyArray<readonly [name: string, value: ReactNode]>
}) => (
  <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(55%,1fr)] gap-x-4 gap-y-2 p-4 text-sm">
    {items.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-ink-3">{name}</dt>
        <dd className="min-w-0 break-words text-ink">{value}</dd>
      </div>
    ))}
  </dl>
)
