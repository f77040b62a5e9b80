import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as SearchText from "@waybill/domain/search/SearchText"
import * as Queries from "../api/Queries.ts"
import * as TimeRange from "../early/TimeRange.ts"
import * as Alarm from "../overview/Alarm.ts"
import * as Series from "../overview/Series.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { cx } from "../ui/display/cx.ts"
import { formatPercent } from "../ui/display/formatPercent.ts"
import { useNow } from "../ui/display/Time.tsx"

const number = new Intl.NumberFormat()

const RATES = [
  ["bounced", "bounce", Series.ended],
  ["complained", "complaint", Series.reached],
] as const

/** The mail of a domain in the last 30 days: how much, how much of it bounced or was reported, and where it is listed. */
export const DomainMail = ({ name }: { readonly name: string }) => {
  const { from, to } = TimeRange.rangeOf("30d", useNow())
  const canRead = useHasScope("email:logs:read")
  const { data } = useQuery({ ...Queries.stats(from, to, "domain"), enabled: canRead })
  if (data === undefined) return undefined
  const totals = Series.sum(data.data.filter(({ domain }) => domain === name))
  const { accepted } = totals
  const rates = RATES.map(([status, title, whole]) => {
    const rate = Series.rate(totals[status], whole(totals))
    return { status, text: `${title} rate ${formatPercent(rate)}`, isBad: rate > Alarm.LIMITS[status] }
  })
  const search = SearchText.write("domain", name)
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-2">
      <span>
        {accepted === 0
          ? "No mail in the last 30 days."
          : `${number.format(accepted)} recipient${accepted === 1 ? "" : "s"} in the last 30 days, `}
        {accepted === 0 ? undefined : Series.ended(totals) === 0 ? (
          "none with an outcome yet."
        ) : (
          <>
            {rates.map(({ isBad, status, text }, nth) => (
              <span key={status} className={cx(isBad && "font-medium text-bad")}>
                {text}
                {nth === 0 ? ", " : "."}
              </span>
            ))}
            {rates.map(({ isBad, status }) => (isBad ? ` ${Alarm.warningOf(status)}` : ""))}
          </>
        )}
      </span>
      <Link to="/emails" search={{ search }} className="link">
        View its emails
      </Link>
    </p>
  )
}
