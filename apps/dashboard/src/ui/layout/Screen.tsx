import { Link } from "@tanstack/react-router"
import { ArrowLeft } from "lucide-react"
import type { ReactNode } from "react"
import { cx } from "../display/cx.ts"
import { useTitle } from "./useTitle.ts"

/** Width and margins of every screen. */
export const SCREEN = "mx-auto w-full max-w-[80rem] px-4 py-4 sm:px-8 sm:py-8"

/** Way back to the list that a record belongs to. */
export const BACK =
  "inline-flex items-center gap-1.5 rounded-md text-sm text-ink-2 hover:text-ink max-sm:-my-3 max-sm:min-h-11"

interface Back {
  readonly to: "/domains" | "/emails" | "/requests" | "/templates" | "/webhooks"
  readonly name: string
}

interface Props {
  readonly title: ReactNode
  /** Title of the page, where `title` is more than a text. */
  readonly name?: string
  /** The list that a record belongs to. */
  readonly back?: Back
  /** State of a record, beside its name. */
  readonly status?: ReactNode
  readonly hint?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** Layout of a screen: title, hint, actions and content. */
export const Screen = ({ actions, back, children, hint, name, status, title }: Props) => {
  const isOwn = back === undefined
  useTitle(name ?? (typeof title === "string" ? title : "Waybill"))
  return (
    <div className={`flex flex-col gap-4 sm:gap-5 ${SCREEN}`}>
      <header className="group flex flex-wrap items-center gap-x-4 gap-y-2">
        {back === undefined ? undefined : (
          <div className="w-full">
            <Link to={back.to} aria-label={`Back to ${back.name.toLowerCase()}`} className={BACK}>
              <ArrowLeft size={14} aria-hidden />
              {back.name}
            </Link>
          </div>
        )}
        <h1
          className={cx(
            "grow text-xl leading-8 font-semibold tracking-tight",
            // A name of ours is not broken; that of a record may have any length.
            isOwn
              ? "basis-24 whitespace-nowrap"
              : "min-w-0 basis-48 [overflow-wrap:anywhere] max-sm:group-has-[[data-actions]>:nth-child(2)]:basis-full",
          )}
        >
          {status === undefined ? (
            title
          ) : (
            <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span className="min-w-0">{title}</span>
              {status}
            </span>
          )}
        </h1>
        {actions === undefined ? undefined : (
          // One button stands beside the title on a phone, too; several take a row.
          <div
            data-actions
            className={cx("flex flex-wrap items-center gap-2", !isOwn && "max-sm:has-[>:nth-child(2)]:order-last")}
          >
            {actions}
          </div>
        )}
        {hint === undefined ? undefined : (
          <div
            className={cx(
              "-mt-1 w-full text-sm [overflow-wrap:anywhere] text-ink-2",
              // A sentence about a list gives way to its first rows.
              isOwn && typeof hint === "string" && "max-sm:hidden",
            )}
          >
            {hint}
          </div>
        )}
      </header>
      {children}
    </div>
  )
}

interface PanelProps {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
  /** Whether content that is too wide scrolls, which the keyboard can do too. */
  readonly isScrollable?: boolean
}

export const Panel = ({ actions, children, className, isScrollable = false, title }: PanelProps) => (
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
