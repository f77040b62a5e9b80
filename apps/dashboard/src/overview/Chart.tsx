import { useEffect, useRef, useState } from "react"
import uPlot from "uplot"
import { useDark } from "../shell/theme.ts"
import { cx } from "../ui/cx.ts"
import type { Points, Unit } from "./series.ts"

const HEIGHT_PX = 256

interface Line {
  readonly name: string
  readonly token: string
  readonly swatch: string
}

/** What is drawn, and how its numbers are said. */
export interface Kind {
  readonly lines: ReadonlyArray<Line>
  readonly share: boolean
}

export const VOLUME: Kind = {
  share: false,
  lines: [
    { name: "Delivered", token: "--good", swatch: "bg-good" },
    { name: "Put off", token: "--warn", swatch: "bg-warn" },
    { name: "Bounced or failed", token: "--bad", swatch: "bg-bad" },
  ],
}

export const RATES: Kind = {
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
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" })

const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6]
const SHARES = [0.01, 0.02, 0.05, 0.1, 0.25]
const DAYS_S = [1, 2, 7, 14].map((days) => days * 24 * 60 * 60)
const hour = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
})
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })

const optionsOf = ({ lines, share }: Kind, width: number, onCursor: (nth?: number) => void): uPlot.Options => ({
  width,
  height: HEIGHT_PX,
  legend: { show: false },
  cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
  padding: [12, 16, 0, 0],
  scales: { y: { range: (_, __, max) => [0, share ? 1.02 : Math.max(4, max * 1.1)] } },
  axes: [
    {
      stroke: token("--ink-3"),
      grid: { show: false },
      ticks: { show: false },
      font: "11px system-ui",
      space: 70,
      size: 32,
      incrs: DAYS_S,
      values: (_, values) => values.map((value) => date.format(new Date(value * 1000))),
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
    ...lines.map((line, nth) => ({
      label: line.name,
      stroke: token(line.token),
      width: 1.75,
      // A rate of a single hour between hours without mail would be no line at all.
      points: { show: share, size: 4, fill: token(line.token) },
      ...(nth === 0 && !share ? { fill: token("--good-soft") } : {}),
      ...(share || uPlot.paths.spline === undefined ? {} : { paths: uPlot.paths.spline() }),
    })),
  ],
  hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
})

interface Props {
  readonly kind: Kind
  readonly points: Points
  readonly unit: Unit
}

export const Chart = ({ kind, points, unit }: Props) => {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const dark = useDark()
  const [at, setAt] = useState<number>()
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const made = new uPlot(optionsOf(kind, element.clientWidth, setAt), points as unknown as uPlot.AlignedData, element)
    plot.current = made
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      made.destroy()
      plot.current = undefined
    }
    // Colours are read when the plot is made, so another theme is another plot; other points are not.
  }, [dark, kind])
  useEffect(() => plot.current?.setData(points as unknown as uPlot.AlignedData), [points])
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
