import type { ReactNode } from "react"
import { cx } from "../display/cx.ts"

interface Props {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
  /** Whether content that is too wide scrolls, which the keyboard can do too. */
  readonly isScrollable?: boolean
}

export const Panel = ({ actions, children, className, isScrollable = false, title }: Props) => (
  <section
    className={cx("rounded-xl border border-line bg-panel", isScrollable && "overflow-x-auto", className)}
    {...(isScrollable && { tabIndex: 0 })}
  >
    {title === undefined ? undefined : (
      <header className="flex min-h-11 items-center gap-3 border-b border-line px-4">
        <h2 className="grow truncate text-sm font-semibold">{title}</h2>
        {actions}
      </header>
    )}
    {children}
  </section>
)
