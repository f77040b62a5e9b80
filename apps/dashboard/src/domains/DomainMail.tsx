import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as SearchText from "@waybill/domain/search/SearchText"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import * as Queries from "../api/Queries.ts"
import type { ReactNode } from "react"
import * as TimeRange from "../overview/TimeRange.ts"
import * as Alarm from "../overview/Alarm.ts"
import { isHighRate } from "../overview/isHighRate.ts"
import * as Series from "../overview/Series.ts"
import * as Mode from "../api/Mode.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { cx } from "../ui/display/cx.ts"
import { useNow } from "../ui/display/Time.tsx"

const number = new Intl.NumberFormat()

const RATES = [
  ["bounced", "Bounce rate", DeliveryRates.ended],
  ["complained", "Complaint rate", DeliveryRates.reached],
] as const

/** The mail of a domain in the last 30 days: how much, how much of it bounced or was reported, and where it is listed. */
export const DomainMail = ({ name }: { readonly name: string }) => {
  const { from, to } = TimeRange.rangeOf("30d", useNow())
  const canRead = useHasScope("email:logs:read")
  const { data } = useQuery({ ...Queries.stats(from, to, "domain"), enabled: canRead })
  if (data === undefined) return undefined
  const totals = Series.sum(data.data.filter(({ domain }) => domain === name))
  const { accepted } = totals
  if (accepted === 0) return <p className="text-sm text-ink-2">No mail in the last 30 days.</p>
  const search = SearchText.write("domain", name)
  const rates = RATES.map(([status, title, whole]) => {
    const rate = DeliveryRates.rate(totals[status], whole(totals))
    return { status, title, rate, isBad: isHighRate(status, rate), limit: DeliveryRates.percent(Alarm.LIMITS[status]) }
  })
  const high = rates.filter(({ isBad }) => isBad)
  return (
    <>
      {Mode.isSimulated() ? undefined : high.length === 0 ? (
        <p className="-mb-1 text-sm font-medium text-good">Healthy: few bounces and complaints.</p>
      ) : (
        <p className="-mb-1 text-sm font-medium text-bad">
          {high.map(({ limit, rate, title }) => `${title} ${DeliveryRates.percent(rate)}, limit ${limit}. `)}
          Providers may reject mail above it.
        </p>
      )}
      <dl className="flex flex-wrap gap-x-10 gap-y-4">
        <Figure
          name="Recipients, 30 days"
          note={
            <Link to="/emails" search={{ search }} className="link">
              View its emails
            </Link>
          }
        >
          {number.format(accepted)}
        </Figure>
        {rates.map(({ isBad, limit, rate, status, title }) => (
          <Figure
            key={status}
            name={title}
            note={`${Mode.isSimulated() ? "Simulated. " : ""}The limit is ${limit}.`}
            isBad={isBad}
          >
            {DeliveryRates.ended(totals) === 0 ? "–" : DeliveryRates.percent(rate)}
          </Figure>
        ))}
      </dl>
    </>
  )
}

interface FigureProps {
  readonly children: ReactNode
  readonly isBad?: boolean
  readonly name: string
  readonly note: ReactNode
}

const Figure = ({ children, isBad = false, name, note }: FigureProps) => (
  <div>
    <dt className="text-sm text-ink-3">{name}</dt>
    <dd className={cx("text-xl font-semibold tabular-nums", isBad && "text-bad")}>{children}</dd>
    <dd className={cx("text-xs", isBad ? "text-bad" : "text-ink-3")}>{note}</dd>
  </div>
)
