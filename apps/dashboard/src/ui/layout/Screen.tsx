import type { ReactNode } from "react"
import { cx } from "../display/cx.ts"

/** Layout of a screen: title, hint, actions and content. */
export const Screen = ({
  actions,
  children,
  hint,
  title,
  wide = false,
}: {
  readonly title: ReactNode
  readonly hint?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly wide?: boolean
}) => (
  <div
    className={cx("mx-auto flex w-full flex-col gap-5 px-4 py-6 sm:px-8 sm:py-8", wide ? "max-w-[88rem]" : "max-w-5xl")}
  >
    <header className="flex flex-wrap items-center gap-x-4 gap-y-3">
      <div className="min-w-0 grow">
        <h1 className="truncate text-xl font-semibold tracking-tight">{title}</h1>
        {hint === undefined ? undefined : <p className="mt-0.5 text-sm text-ink-2">{hint}</p>}
      </div>
      {actions === undefined ? undefined : <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
    {children}
  </div>
)
