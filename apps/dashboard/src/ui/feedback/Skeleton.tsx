import { useConnection } from "../../api/Connection.ts"
import { cx } from "../display/cx.ts"

export const Skeleton = ({ className }: { readonly className?: string }) => (
  <span aria-hidden className={cx("pulsing block rounded-md bg-hover", className)} />
)

/** Placeholder for a whole screen: its title and a panel. */
export const ScreenSkeleton = () => (
  <div role="status" aria-label="Loading" className="delayed flex flex-col gap-6">
    <Skeleton className="h-6 w-48" />
    <div className="rounded-xl border border-line bg-panel">
      <Rows rows={8} />
    </div>
  </div>
)

/** Placeholder for rows that are loading. It appears after a short delay, because most rows load faster. */
export const SkeletonRows = ({ rows = 6 }: { readonly rows?: number }) =>
  useConnection() === "offline" ? (
    <p role="status" className="p-8 text-center text-sm text-ink-3">
      Not loaded yet. It loads when you are back online.
    </p>
  ) : (
    <div role="status" aria-label="Loading" className="delayed">
      <Rows rows={rows} />
    </div>
  )

const Rows = ({ rows }: { readonly rows: number }) => (
  <div className="divide-y divide-line">
    {Array.from({ length: rows }, (_, index) => (
      <div key={index} className="flex items-center gap-4 px-4 py-3.5">
        <Skeleton className="h-3.5 w-20" />
        <Skeleton className="h-3.5 grow" />
        <Skeleton className="h-3.5 w-16" />
      </div>
    ))}
  </div>
)
