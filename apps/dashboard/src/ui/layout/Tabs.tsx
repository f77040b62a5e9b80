import { Tabs as Base } from "@base-ui/react/tabs"
import type { ReactNode } from "react"

export interface Tab {
  readonly name: string
  readonly count?: number
  readonly content: () => ReactNode
}

interface Props {
  readonly label: string
  readonly tabs: ReadonlyArray<Tab>
  /** Name of the selected tab, where the screen remembers it. */
  readonly selected?: string
  readonly onSelect?: (name: string) => void
}

export const Tabs = ({ label, onSelect, selected, tabs }: Props) => (
  <Base.Root
    defaultValue={tabs[0]?.name}
    {...(selected === undefined ? {} : { value: selected })}
    {...(onSelect === undefined ? {} : { onValueChange: (name: string) => onSelect(name) })}
  >
    <Base.List aria-label={label} className="flex flex-wrap gap-x-1 border-b border-line px-2">
      {tabs.map(({ count, name }) => (
        <Base.Tab
          key={name}
          value={name}
          className="-mb-px flex h-11 items-center gap-1.5 border-b-2 border-transparent px-2.5 text-sm font-medium whitespace-nowrap max-sm:h-9 max-sm:px-1.5 text-ink-2 hover:text-ink focus-visible:-outline-offset-4 data-active:border-solid data-active:text-ink"
        >
          {name}
          {count === undefined || count === 0 ? undefined : (
            <span className="tabular rounded-md bg-hover px-1 text-xs text-ink-2">{count}</span>
          )}
        </Base.Tab>
      ))}
    </Base.List>
    {tabs.map(({ content, name }) => (
      <Base.Panel key={name} value={name} className="outline-none">
        {content()}
      </Base.Panel>
    ))}
  </Base.Root>
)
