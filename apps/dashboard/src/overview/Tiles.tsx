import { Link } from "@tanstack/react-router"
import * as SearchDates from "@waybill/domain/search/SearchDates"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
import { cx } from "../ui/display/cx.ts"
import { useNow } from "../ui/display/Time.tsx"
import { isHighRate } from "./isHighRate.ts"
import * as Series from "./Series.ts"
import * as Mode from "../api/Mode.ts"

const number = new Intl.NumberFormat()

interface Props {
  readonly from: string
  readonly totals: Series.Totals | undefined
  /** Opens and clicks; undefined if none is tracked, so that the tiles could never move. */
  readonly visits: Series.Visits | undefined
}

interface Tile {
  readonly name: string
  readonly value: string
  readonly hint: string
  /** Statuses of the emails that it leads to; all if it is left out. */
  readonly status?: string
  readonly isBad?: boolean
}

/** A share in percent, or a dash while it is of nothing. */
const share = (part: number, whole: number): string =>
  whole === 0 ? "–" : DeliveryRates.percent(DeliveryRates.rate(part, whole))

/** The numbers of the range. Tiles with a status lead to the emails that they count. */
export const Tiles = ({ from, totals: loaded, visits }: Props) => {
  const since = SearchDates.write(from, useNow())
  const simulated = (count: number) => (Mode.isSimulated() && count > 0 ? ", all simulated" : "")
  const totals = loaded ?? Series.NO_TOTALS
  const ended = DeliveryRates.ended(totals)
  const lost = DeliveryRates.rate(totals.bounced + totals.failed, ended)
  const complained = DeliveryRates.rate(totals.complained, DeliveryRates.reached(totals))
  const tiles: ReadonlyArray<Tile> = [
    { name: "Accepted", value: number.format(totals.accepted), hint: "recipients" },
    {
      name: "Delivered",
      value: share(DeliveryRates.reached(totals), ended),
      hint: `${number.format(DeliveryRates.reached(totals))} of ${number.format(ended)}`,
      status: "delivered,complained",
    },
    {
      name: "Not delivered",
      value: share(totals.bounced + totals.failed, ended),
      hint: `${number.format(totals.bounced)} bounced, ${number.format(totals.failed)} failed${simulated(totals.bounced + totals.failed)}`,
      status: "bounced,failed",
      isBad: isHighRate("bounced", lost),
    },
    {
      name: "Complained",
      value: share(totals.complained, DeliveryRates.reached(totals)),
      hint: `${number.format(totals.complained)} complaints${simulated(totals.complained)}`,
      status: "complained",
      isBad: isHighRate("complained", complained),
    },
    ...(visits === undefined
      ? []
      : [
          { name: "Opens", value: number.format(visits.opens), hint: "of tracked mail" },
          { name: "Clicks", value: number.format(visits.clicks), hint: "in tracked mail" },
        ]),
  ]
  return (
    // The lines between the tiles are the background, seen through gaps.
    <ul
      className={cx(
        "grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line",
        visits === undefined ? "sm:grid-cols-4" : "sm:grid-cols-3 xl:grid-cols-6",
      )}
    >
      {tiles.map(({ hint, isBad = false, name, status, value }) => (
        <li key={name} className="bg-panel">
          <Link
            to="/emails"
            search={{ search: `since:${since}${status === undefined ? "" : ` anyone:${status}`}` }}
            className="block h-full px-4 py-4 hover:bg-hover focus-visible:-outline-offset-2 sm:px-5"
          >
            <p className="text-xs font-medium text-ink-3">{name}</p>
            <p className={cx("tabular mt-1 text-2xl font-semibold tracking-tight", isBad && "text-bad")}>
              {loaded === undefined ? "–" : value}
            </p>
            <p className="tabular mt-0.5 text-xs text-ink-3">{loaded === undefined ? "\u00a0" : hint}</p>
          </Link>
        </li>
      ))}
    </ul>
  )
}
