import type { ReactNode } from "react"
import { useTitle } from "./useTitle.ts"

/** Width and margins of every screen. */
export const SCREEN = "mx-auto w-full max-w-[80rem] px-4 py-6 sm:px-8 sm:py-8"

/** Layout of a screen: title, hint, actions and content. */
export const Screen = ({
  actions,
  children,
  hint,
  name,
  title,
}: {
  readonly title: ReactNode
  /** Title of the page, where `title` is more than a text. */
  readonly name?: string
  readonly hint?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) => {
  useTitle(name ?? (typeof title === "string" ? title : "Waybill"))
  return (
    <div className={`flex flex-col gap-5 ${SCREEN}`}>
      <header className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <div className="min-w-0 grow">
          <h1 className="truncate text-xl font-semibold tracking-tight">{title}</h1>
          {hint === undefined ? undefined : (
            <p className="mt-0.5 text-sm [overflow-wrap:anywhere] text-ink-2">{hint}</p>
          )}
        </div>
        {actions === undefined ? undefined : <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
