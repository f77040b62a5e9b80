import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as Queries from "../api/Queries.ts"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import * as Hits from "../emails/search/Hits.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"
import { SentTime } from "../emails/list/SentTime.tsx"
import { cx } from "../ui/display/cx.ts"
import { useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

/** Recipient and subject share the width: one that needs less leaves it to the other. On a phone they share a column. */
const COLUMNS =
  "grid grid-cols-[max-content_minmax(0,1fr)_auto] gap-x-3 sm:grid-cols-[max-content_minmax(0,max-content)_minmax(0,max-content)_auto]"
const ROW = "col-span-full grid grid-cols-subgrid items-center px-4"

export const RecentEmails = () => {
  const { data } = useQuery(Queries.recentEmails)
  const now = useNow()
  return (
    <Panel
      title="Recent emails"
      actions={
        <Link to="/emails" className="rounded-md text-xs font-medium text-ink-2 hover:text-ink">
          All emails
        </Link>
      }
    >
      {data === undefined ? (
        <SkeletonRows rows={Queries.RECENT_EMAILS} />
      ) : (
        <div className={COLUMNS}>
          <div aria-hidden className={cx(ROW, "h-9 border-b border-line text-xs font-medium text-ink-3 max-sm:hidden")}>
            <span>Status</span>
            <span>To</span>
            <span>Subject</span>
            <span className="text-right">Time</span>
          </div>
          <ul className="col-span-full grid grid-cols-subgrid divide-y divide-line">
            {data.data.map((email) => (
              <li key={email.id} className="col-span-full grid grid-cols-subgrid">
                <Link
                  to="/emails/$id"
                  params={{ id: email.id }}
                  className={cx(ROW, "py-2.5 text-sm hover:bg-hover focus-visible:-outline-offset-2")}
                >
                  <span>
                    <StatusBadge status={shownStatus(email, now)} />
                  </span>
                  <UntrustedText className="hidden min-w-0 truncate sm:block" text={Hits.firstRecipient(email)} />
                  <span className="min-w-0">
                    <span className="block truncate text-ink-2">
                      {email.subject === "" ? "No subject" : <UntrustedText text={email.subject} />}
                    </span>
                    <span className="block truncate text-xs text-ink-3 sm:hidden">
                      <UntrustedText text={Hits.firstRecipient(email)} />
                    </span>
                  </span>
                  <span className="tabular text-right text-xs text-ink-3">
                    <SentTime email={email} status={shownStatus(email, now)} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  )
}
