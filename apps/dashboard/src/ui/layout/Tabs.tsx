import { Tabs as Base } from "@base-ui/react/tabs"
import { type ReactNode, useEffect, useRef } from "react"

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

/** Scrolls a line of tabs that is too long, so that one of them stands in its middle. */
const center = (list: Element | null, tab: Element | null | undefined): void => {
  if (list === null || tab === null || tab === undefined) return
  const [line, box] = [list.getBoundingClientRect(), tab.getBoundingClientRect()]
  list.scrollLeft += box.left + box.width / 2 - line.left - line.width / 2
}

/** Fades the ends beyond which a line of tabs goes on. */
const fadeEnds = (list: HTMLElement | null): void => {
  if (list === null) return
  const { clientWidth, scrollLeft, scrollWidth } = list
  list.toggleAttribute("data-more-before", scrollLeft > 1)
  list.toggleAttribute("data-more-after", scrollLeft + clientWidth < scrollWidth - 1)
}

export const Tabs = ({ label, onSelect, selected, tabs }: Props) => {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => center(list.current, list.current?.querySelector("[aria-selected=true]")), [selected])
  useEffect(() => fadeEnds(list.current))
  useEffect(() => {
    const resize = new ResizeObserver(() => fadeEnds(list.current))
    if (list.current !== null) resize.observe(list.current)
    return () => resize.disconnect()
  }, [])
  return (
    <Base.Root
      defaultValue={tabs[0]?.name}
      {...(selected === undefined ? {} : { value: selected })}
      {...(onSelect === undefined ? {} : { onValueChange: (name: string) => onSelect(name) })}
    >
      <Base.List
        ref={list}
        aria-label={label}
        onScroll={({ currentTarget }) => fadeEnds(currentTarget)}
        className="fade-ends flex gap-x-1 overflow-x-auto px-2 shadow-[inset_0_-1px_0_var(--color-line)] [scrollbar-width:none]"
      >
        {tabs.map(({ count, name }) => (
          <Base.Tab
            key={name}
            value={name}
            onClick={({ currentTarget }) => center(list.current, currentTarget)}
            className="flex h-11 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2.5 text-sm font-medium whitespace-nowrap text-ink-2 hover:text-ink focus-visible:-outline-offset-4 data-active:border-solid data-active:text-ink max-sm:h-9 max-sm:px-1.5"
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
}
