import { useEffect, useRef, useState } from "react"
import uPlot from "uplot"
import { useDark } from "../shell/Theme.ts"
import { cx } from "../ui/display/cx.ts"
import type { Points, Unit } from "./Series.ts"

const HEIGHT_PX = 256

interface Line {
  readonly name: string
  readonly token: string
  readonly swatch: string
}

/** What is drawn, and how its numbers are said. */
interface Kind {
  readonly lines: ReadonlyArray<Line>
  readonly share: boolean
}

const VOLUME: Kind = {
  share: false,
  lines: [
    { name: "Delivered", token: "--good", swatch: "bg-good" },
    { name: "Put off", token: "--warn", swatch: "bg-warn" },
    { name: "Bounced or failed", token: "--bad", swatch: "bg-bad" },
  ],
}

const RATES: Kind = {
  share: true,
  lines: [
    { name: "Delivered", token: "--good", swatch: "bg-good" },
    { name: "Bounced", token: "--bad", swatch: "bg-bad" },
    { name: "Complained", token: "--violet", swatch: "bg-violet" },
  ],
}

const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const number = new Intl.NumberFormat()
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 })
/** Days are counted as UTC has them, hours are shown as the reader's clock does. */
const TICKS = {
  hour: new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }),
  day: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" }),
}
const HOUR_S = 60 * 60
const STEP_S = { hour: HOUR_S, day: 24 * HOUR_S }
const STEPS = { hour: [1, 2, 3, 6], day: [1, 2, 7, 14] }

const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6]
const SHARES = [0.01, 0.02, 0.05, 0.1, 0.25]
const WIDEST_BAR_PX = 40
const hour = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
})
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })

interface Drawn {
  readonly kind: Kind
  readonly unit: Unit
  readonly width: number
  readonly onCursor: (nth?: number) => void
}

const optionsOf = ({ kind: { lines, share }, onCursor, unit, width }: Drawn): uPlot.Options => ({
  width,
  tzDate: (seconds) => (unit === "day" ? uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") : new Date(seconds * 1000)),
  height: HEIGHT_PX,
  legend: { show: false },
  cursor: { y: false, points: { show: share, size: 7 }, drag: { x: false, y: false } },
  padding: [12, 16, 0, 0],
  scales: {
    // Half a step more on each side, so that the first bar and the last are whole.
    x: { range: (_, min, max) => [min - STEP_S[unit] / 2, max + STEP_S[unit] / 2] },
    y: { range: (_, __, max) => [0, share ? 1.02 : Math.max(4, max * 1.1)] },
  },
  axes: [
    {
      stroke: token("--ink-3"),
      grid: { show: false },
      ticks: { show: false },
      font: "11px system-ui",
      space: 70,
      size: 32,
      incrs: STEPS[unit].map((steps) => steps * STEP_S[unit]),
      values: (_, values) => values.map((value) => TICKS[unit].format(new Date(value * 1000))),
    },
    {
      stroke: token("--ink-3"),
      grid: { stroke: token("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
      size: 48,
      incrs: share ? SHARES : COUNTS,
      values: (_, values) => values.map((value) => (share ? percent : number).format(value)),
    },
  ],
  series: [
    {},
    ...lines.map((line) => ({
      label: line.name,
      stroke: token(line.token),
      width: 1.75,
      // A rate of a single hour between hours without mail would be no line at all.
      points: { show: share, size: 4, fill: token(line.token) },
      ...(share || uPlot.paths.bars === undefined
        ? {}
        : { width: 0, fill: token(line.token), paths: uPlot.paths.bars({ size: [0.7, WIDEST_BAR_PX], radius: 0.15 }) }),
    })),
  ],
  hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
})

/** Bars stand on each other: each begins where the ones below it end, the highest drawn first. */
const drawn = ({ share }: Kind, [times, ...columns]: Points): uPlot.AlignedData => {
  const stacked = columns.map((column, nth) =>
    column.map((value, at) => (share ? value : columns.slice(nth).reduce((all, each) => all + (each[at] ?? 0), 0))),
  )
  return [times, ...stacked] as unknown as uPlot.AlignedData
}

interface Props {
  readonly of: "volume" | "rates"
  readonly points: Points
  readonly unit: Unit
}

export const Chart = ({ of, points, unit }: Props) => {
  const kind = of === "rates" ? RATES : VOLUME
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const dark = useDark()
  const [at, setAt] = useState<number>()
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const made = new uPlot(
      optionsOf({ kind, unit, width: element.clientWidth, onCursor: setAt }),
      drawn(kind, points),
      element,
    )
    plot.current = made
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      made.destroy()
      plot.current = undefined
    }
    // Colours are read when the plot is made, so another theme is another plot; other points are not.
  }, [dark, kind, unit])
  useEffect(() => plot.current?.setData(drawn(kind, points)), [kind, points])
  const [times, ...columns] = points
  const format = kind.share ? percent : number
  const shown = at === undefined ? undefined : times[at]
  return (
    <div className="p-4 pt-3">
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {kind.lines.map(({ name, swatch }, nth) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={cx("h-0.5 w-3 rounded-full", swatch)} />
            {name}
            {at === undefined ? undefined : (
              <span className="tabular font-medium text-ink">{format.format(columns[nth]?.[at] ?? 0)}</span>
            )}
          </span>
        ))}
        <span className="ml-auto text-ink-3">
          {shown === undefined ? `by the ${unit}` : (unit === "hour" ? hour : day).format(new Date(shown * 1000))}
        </span>
      </div>
      <div ref={box} role="img" aria-label={said(kind, points)} style={{ height: HEIGHT_PX }} />
    </div>
  )
}

/** What the picture says, for whoever does not see it. */
const said = ({ lines, share }: Kind, [times, ...columns]: Points): string => {
  const words = lines.map(({ name }, nth) => {
    const values = (columns[nth] ?? []).filter((value) => value !== null)
    const total = values.reduce((all, each) => all + each, 0)
    const shown = share ? percent.format(total / Math.max(1, values.length)) : number.format(total)
    return `${name.toLowerCase()} ${shown}`
  })
  return `${share ? "On average" : "In all"} over ${times.length} steps: ${words.join(", ")}`
}
