import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as SearchText from "@waybill/domain/search/SearchText"
import * as Queries from "../api/Queries.ts"
import type { EmailStatus } from "../api/Records.ts"
import * as TimeRange from "../early/TimeRange.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { formatPercent } from "../ui/display/formatPercent.ts"
import { useNow } from "../ui/display/Time.tsx"

const number = new Intl.NumberFormat()

/** The mail of a domain in the last 30 days: how much, how much of it bounced, and where it is listed. */
export const DomainMail = ({ name }: { readonly name: string }) => {
  const { from, to } = TimeRange.rangeOf("30d", useNow())
  const canRead = useHasScope("email:logs:read")
  const { data } = useQuery({ ...Queries.stats(from, to, "domain"), enabled: canRead })
  if (data === undefined) return undefined
  const rows = data.data.filter(({ domain }) => domain === name)
  const accepted = rows.reduce((sum, row) => sum + row.accepted, 0)
  const countOf = (...statuses: ReadonlyArray<EmailStatus>): number =>
    rows.reduce((sum, row) => statuses.reduce((part, status) => part + row.recipient_counts[status], sum), 0)
  const ended = countOf("delivered", "complained", "bounced", "failed")
  const search = SearchText.write("domain", name)
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-2">
      <span>
        {accepted === 0
          ? "No mail in the last 30 days."
          : `${number.format(accepted)} recipient${accepted === 1 ? "" : "s"} in the last 30 days, ${
              ended === 0 ? "none with an outcome yet" : `bounce rate ${formatPercent(countOf("bounced") / ended)}`
            }.`}
      </span>
      <Link to="/emails" search={{ search }} className="link">
        View its emails
      </Link>
    </p>
  )
}
