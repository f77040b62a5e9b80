import type { ReactNode } from "react"

/** The search of a list, and its filters, which stay on one line on a phone. */
export const FilterBar = ({ children, search }: { readonly search: ReactNode; readonly children?: ReactNode }) => (
  <div className="flex flex-wrap items-center gap-2">
    {search}
    <div className="flex max-w-full min-w-0 items-center gap-2">{children}</div>
  </div>
)
