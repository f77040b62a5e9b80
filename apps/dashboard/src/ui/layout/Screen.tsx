import type { ReactNode } from "react"
import { cx } from "../display/cx.ts"

/** A screen: its name, what can be done here, and what it shows. */
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

/** A name and what it is, one a line. */
export const Facts = ({ facts }: { readonly facts: ReadonlyArray<readonly [name: string, value: ReactNode]> }) => (
  <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-4 gap-y-2 p-4 text-sm">
    {facts.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-ink-3">{name}</dt>
        <dd className="min-w-0 break-words text-ink">{value}</dd>
      </div>
    ))}
  </dl>
)

export const Skeleton = ({ className }: { readonly className?: string }) => (
  <span aria-hidden className={cx("breathing block rounded-md bg-hover", className)} />
)

/** Rows that are on their way; shown only after a moment, since most are there before. */
export const SkeletonRows = ({ rows = 6 }: { readonly rows?: number }) => (
  <div role="status" aria-label="Loading" className="late divide-y divide-line">
    {Array.from({ length: rows }, (_, nth) => (
      <div key={nth} className="flex items-center gap-4 px-4 py-3.5">
        <Skeleton className="h-3.5 w-20" />
        <Skeleton className="h-3.5 grow" />
        <Skeleton className="h-3.5 w-16" />
      </div>
    ))}
  </div>
)

export const Kbd = ({ children }: { readonly children: ReactNode }) => (
  <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded-[5px] border border-line bg-sunken px-1 font-sans text-[11px] text-ink-3">
    {children}
  </kbd>
)
