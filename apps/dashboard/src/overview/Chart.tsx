import { useEffect, useRef, useState } from "react"
import * as DeliveryRates from "@waybill/domain/explanation/DeliveryRates"
// Has to run before uPlot is loaded, and exports nothing.
// oxlint-disable-next-line import/no-unassigned-import
import "./replaceInvalidLanguage.ts"
import uPlot from "uplot"
import { useIsDark } from "../session/Theme.ts"
import { cx } from "../ui/display/cx.ts"
import { CLOCK } from "../ui/display/formatWhen.ts"
import type { Points, Unit } from "./Series.ts"

const HEIGHT_PX = 256

interface Series {
  readonly name: string
  readonly token: string
  readonly swatch: string
}

interface ChartKind {
  readonly series: ReadonlyArray<Series>
  /** Whether the values are rates between 0 and 1. */
  readonly isRate: boolean
  /** Range of the axis, for the values that it shows. */
  readonly range: (min: number, max: number) => readonly [from: number, to: number]
}

const VOLUME: ChartKind = {
  isRate: false,
  range: (_, max) => [0, Math.max(4, max * 1.1)],
  // In the order of `STACKS`.
  series: [
    { name: "Delivered", token: "--color-good", swatch: "bg-good" },
    { name: "Complained", token: "--color-violet", swatch: "bg-violet" },
    { name: "Sent", token: "--color-accent", swatch: "bg-accent" },
    { name: "Queued", token: "--color-accent-line", swatch: "bg-accent-line" },
    { name: "Deferred", token: "--color-warn", swatch: "bg-warn" },
    { name: "Bounced or failed", token: "--color-bad", swatch: "bg-bad" },
    { name: "Suppressed or canceled", token: "--color-line-strong", swatch: "bg-line-strong" },
  ],
}

/** Room above and below rates that are all the same, so that their line is not the edge. */
const MIN_SPAN = 0.02

const DELIVERED: ChartKind = {
  isRate: true,
  range: (min) => [Math.max(0, Math.min(1 - MIN_SPAN, min - (1 - min) * 0.2)), 1.002],
  series: [{ name: "Delivered", token: "--color-good", swatch: "bg-good" }],
}

const BOUNCED: ChartKind = {
  isRate: true,
  range: (_, max) => [0, Math.max(MIN_SPAN / 2, max * 1.15)],
  series: [
    { name: "Bounced", token: "--color-bad", swatch: "bg-bad" },
    { name: "Complained", token: "--color-violet", swatch: "bg-violet" },
  ],
}

const CHARTS = { volume: VOLUME, delivered: DELIVERED, bounced: BOUNCED } as const
export type ChartName = keyof typeof CHARTS

const cssVariable = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const number = new Intl.NumberFormat()
/** Labels of the axis, which are few and round. */
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 })
/** Axis labels. Days are in UTC, as the statistics are; hours are in the user's time zone. */
const TICK_FORMATS = {
  hour: new Intl.DateTimeFormat(undefined, CLOCK),
  day: new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" }),
}
const HOUR_S = 60 * 60
const STEP_S = { hour: HOUR_S, day: 24 * HOUR_S }
const STEPS = { hour: [1, 2, 3, 6], day: [1, 2, 7, 14] }

const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6]
const SHARES = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25]
const WIDEST_BAR_PX = 40
const hour = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", ...CLOCK })
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })

interface PlotOptions {
  readonly kind: ChartKind
  readonly unit: Unit
  readonly width: number
  readonly onCursor: (index?: number) => void
}

const optionsOf = ({ kind: { isRate, range, series }, onCursor, unit, width }: PlotOptions): uPlot.Options => ({
  width,
  tzDate: (seconds) => (unit === "day" ? uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC") : new Date(seconds * 1000)),
  height: HEIGHT_PX,
  legend: { show: false },
  cursor: { y: false, points: { show: isRate, size: 7 }, drag: { x: false, y: false } },
  padding: [12, 16, 0, 0],
  scales: {
    // Half a step of margin on each side, so that the first and last bars are not cut.
    x: { range: (_, min, max) => [min - STEP_S[unit] / 2, max + STEP_S[unit] / 2] },
    // Without a value there is no least and no greatest one.
    y: { range: (_, min, max) => [...range(min ?? 1, max ?? 0)] as uPlot.Range.MinMax },
  },
  axes: [
    {
      stroke: cssVariable("--color-ink-3"),
      grid: { show: false },
      ticks: { show: false },
      font: "11px system-ui",
      space: 70,
      size: 24,
      incrs: STEPS[unit].map((steps) => steps * STEP_S[unit]),
      values: (_, values) => values.map((value) => TICK_FORMATS[unit].format(new Date(value * 1000))),
    },
    {
      stroke: cssVariable("--color-ink-3"),
      grid: { stroke: cssVariable("--color-line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
      size: 48,
      incrs: isRate ? SHARES : COUNTS,
      values: (_, values) => values.map((value) => (isRate ? percent : number).format(value)),
    },
  ],
  series: [
    {},
    ...series.map((line) => ({
      label: line.name,
      stroke: cssVariable(line.token),
      width: 1.75,
      // A single value between gaps has no line, so each value is also a point.
      points: { show: isRate, size: 4, fill: cssVariable(line.token) },
      ...(isRate || uPlot.paths.bars === undefined
        ? {}
        : {
            width: 0,
            fill: cssVariable(line.token),
            paths: uPlot.paths.bars({ size: [0.7, WIDEST_BAR_PX], radius: 0.15 }),
          }),
    })),
  ],
  hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
})

/** Stacks the bars: each column becomes the sum of itself and the columns below it. */
const plotData = ({ isRate }: ChartKind, [times, ...columns]: Points): uPlot.AlignedData => {
  const stacked = columns.map((column, index) =>
    column.map((value, row) =>
      isRate ? value : columns.slice(index).reduce((sum, each) => sum + (each[row] ?? 0), 0),
    ),
  )
  return [times, ...stacked] as unknown as uPlot.AlignedData
}

interface Props {
  readonly kind: ChartName
  readonly points: Points
  readonly unit: Unit
}

export const Chart = ({ kind: kindName, points, unit }: Props) => {
  const kind = CHARTS[kindName]
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const isDark = useIsDark()
  const [index, setIndex] = useState<number>()
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const created = new uPlot(
      optionsOf({ kind, unit, width: element.clientWidth, onCursor: setIndex }),
      plotData(kind, points),
      element,
    )
    plot.current = created
    const resize = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      created.destroy()
      plot.current = undefined
    }
    // A new theme needs a new plot, because colors are read when it is created. New points only update it.
  }, [isDark, kind, unit])
  useEffect(() => plot.current?.setData(plotData(kind, points)), [kind, points])
  const [times, ...columns] = points
  // A time without mail has no rates.
  const valueText = (value: number | null | undefined) =>
    value === null || value === undefined ? "–" : kind.isRate ? DeliveryRates.percent(value) : number.format(value)
  const hoveredTime = index === undefined ? undefined : times[index]
  return (
    <div className="p-4 pt-3">
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {kind.series.map(({ name, swatch }, column) =>
          // A state in which nothing is has no bar to explain.
          column > 0 && !kind.isRate && !columns[column]?.some((value) => value !== null && value > 0) ? undefined : (
            <span key={name} className="inline-flex items-center gap-1.5">
              <span aria-hidden className={cx("h-0.5 w-3 rounded-full", swatch)} />
              {name}
              {index === undefined ? undefined : (
                <span className="tabular font-medium text-ink">{valueText(columns[column]?.[index])}</span>
              )}
            </span>
          ),
        )}
        <span className="ml-auto text-ink-3">
          {hoveredTime === undefined
            ? unit === "hour"
              ? "Hourly"
              : "Daily (UTC)"
            : (unit === "hour" ? hour : day).format(new Date(hoveredTime * 1000))}
        </span>
      </div>
      <div ref={box} role="img" aria-label={summaryOf(kind, points, unit)} style={{ height: HEIGHT_PX }} />
    </div>
  )
}

/** Text alternative of the chart. */
const summaryOf = ({ isRate, series }: ChartKind, [times, ...columns]: Points, unit: Unit): string => {
  const parts = series.map(({ name }, index) => {
    const values = (columns[index] ?? []).filter((value) => value !== null)
    const total = values.reduce((sum, each) => sum + each, 0)
    const value = isRate ? DeliveryRates.percent(total / Math.max(1, values.length)) : number.format(total)
    return `${name.toLowerCase()} ${value}`
  })
  const period = isRate ? `Average of the ${unit}s with mail` : `Recipients accepted in ${times.length} ${unit}s`
  return `${period}: ${parts.join(", ")}`
}
