import type { ReactNode } from "react"
import { cx } from "../display/cx.ts"

export const Panel = ({
  actions,
  children,
  className,
  title,
}: {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}) => (
  <section className={cx("rounded-xl border border-line bg-panel", className)}>
    {title === undefined ? undefined : (
      <header className="flex min-h-11 items-center gap-3 border-b border-line px-4">
        <h2 className="grow truncate text-sm font-semibold">{title}</h2>
        {actions}
      </header>
    )}
    {children}
  </section>
)
