import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as SearchText from "@waybill/domain/search/SearchText"
import * as Queries from "../api/Queries.ts"
import * as TimeRange from "../early/TimeRange.ts"
import * as Series from "../overview/Series.ts"
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
  const { accepted, ...counts } = Series.sum(data.data.filter(({ domain }) => domain === name))
  const ended = Series.ended(counts)
  const search = SearchText.write("domain", name)
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-2">
      <span>
        {accepted === 0
          ? "No mail in the last 30 days."
          : `${number.format(accepted)} recipient${accepted === 1 ? "" : "s"} in the last 30 days, ${
              ended === 0 ? "none with an outcome yet" : `bounce rate ${formatPercent(counts.bounced / ended)}`
            }.`}
      </span>
      <Link to="/emails" search={{ search }} className="text-accent underline underline-offset-2">
        View its emails
      </Link>
    </p>
  )
}
