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

const LINES: ReadonlyArray<Line> = [
  { name: "Delivered", token: "--good", swatch: "bg-good" },
  { name: "Put off", token: "--warn", swatch: "bg-warn" },
  { name: "Bounced or failed", token: "--bad", swatch: "bg-bad" },
]

const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const number = new Intl.NumberFormat()
const hour = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
})
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })

const optionsOf = (width: number, onCursor: (nth: number | undefined) => void): uPlot.Options => ({
  width,
  height: HEIGHT_PX,
  legend: { show: false },
  cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
  padding: [12, 16, 0, 0],
  scales: { y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
  axes: [
    { stroke: token("--ink-3"), grid: { show: false }, ticks: { show: false }, font: "11px system-ui", space: 70 },
    {
      stroke: token("--ink-3"),
      grid: { stroke: token("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
      size: 48,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6],
      values: (_, values) => values.map((value) => number.format(value)),
    },
  ],
  series: [
    {},
    ...LINES.map((line, nth) => ({
      label: line.name,
      stroke: token(line.token),
      width: 1.75,
      points: { show: false },
      ...(nth === 0 ? { fill: token("--good-soft") } : {}),
      ...(uPlot.paths.spline === undefined ? {} : { paths: uPlot.paths.spline() }),
    })),
  ],
  hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
})

export const Chart = ({ points, unit }: { readonly points: Points; readonly unit: Unit }) => {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const dark = useDark()
  const [at, setAt] = useState<number>()
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const made = new uPlot(optionsOf(element.clientWidth, setAt), points as unknown as uPlot.AlignedData, element)
    plot.current = made
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      made.destroy()
      plot.current = undefined
    }
    // Colours are read when the plot is made, so another theme is another plot; other points are not.
  }, [dark])
  useEffect(() => plot.current?.setData(points as unknown as uPlot.AlignedData), [points])
  const [times, ...lines] = points
  const shown = at === undefined ? undefined : times[at]
  return (
    <div className="p-4 pt-3">
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {LINES.map(({ name, swatch }, nth) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span aria-hidden className={cx("h-0.5 w-3 rounded-full", swatch)} />
            {name}
            {at === undefined ? undefined : (
              <span className="tabular font-medium text-ink">{number.format(lines[nth]?.[at] ?? 0)}</span>
            )}
          </span>
        ))}
        <span className="ml-auto text-ink-3">
          {shown === undefined ? `by the ${unit}` : (unit === "hour" ? hour : day).format(new Date(shown * 1000))}
        </span>
      </div>
      <div ref={box} role="img" aria-label={said(points)} style={{ height: HEIGHT_PX }} />
    </div>
  )
}

/** What the picture says, for whoever does not see it. */
const said = ([times, ...lines]: Points): string => {
  const totals = lines.map((line) => line.reduce((all, each) => all + each, 0))
  return `Over ${times.length} steps: ${LINES.map(({ name }, nth) => `${name.toLowerCase()} ${number.format(totals[nth] ?? 0)}`).join(", ")}`
}
