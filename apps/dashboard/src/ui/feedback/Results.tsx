import type { ReactNode } from "react"
import { cx } from "../display/cx.ts"

interface Props {
  /** Whether the list answers an earlier search than the one that is typed. */
  readonly isPending: boolean
  readonly children: ReactNode
}

/** Results of a search. While another one is typed they are dimmed and cannot be used, so that nobody takes them for its answer. */
export const Results = ({ children, isPending }: Props) => (
  <div aria-busy={isPending} className="relative flex flex-col gap-5">
    {isPending ? (
      <p
        role="status"
        className="absolute top-12 left-1/2 z-10 -translate-x-1/2 rounded-lg border border-line bg-raised px-3 py-1.5 text-sm text-ink-2 shadow-float"
      >
        Searching…
      </p>
    ) : undefined}
    <div inert={isPending} className={cx("flex flex-col gap-5", isPending && "opacity-30")}>
      {children}
    </div>
  </div>
)
