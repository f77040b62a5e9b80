export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<{
    readonly size: number
    readonly millis: { readonly median: number; readonly least: number; readonly most: number }
  }>
}

const PANEL = { width: 220, height: 150, left: 44, right: 12, top: 34, bottom: 30 }
const GAP = 16

const short = (value: number): string =>
  value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toPrecision(2)
const sizeName = (size: number): string =>
  size >= 1_000_000 ? `${size / 1_000_000} M` : size >= 1_000 ? `${size / 1_000} k` : String(size)

/** Draws one panel per series. The horizontal axis is logarithmic, the vertical one starts at zero. */
const panel = ({ name, points }: Series, nth: number): string => {
  const { bottom, height, left, right, top, width } = PANEL
  const highest = Math.max(...points.map(({ millis }) => millis.most)) * 1.15
  const decades = points.map(({ size }) => Math.log10(size))
  const [from, to] = [Math.min(...decades), Math.max(...decades)]
  const x = (size: number) =>
    (left + ((Math.log10(size) - from) / Math.max(to - from, 1)) * (width - left - right)).toFixed(1)
  const y = (millis: number) => (height - bottom - (millis / highest) * (height - top - bottom)).toFixed(1)
  const line = points.map(({ millis, size }) => `${x(size)},${y(millis.median)}`).join(" ")
  return [
    `<g transform="translate(${nth * (width + GAP)} 0)">`,
    `<text x="${left}" y="16" class="title">${name}, ms</text>`,
    `<line class="axis" x1="${left}" y1="${height - bottom}" x2="${width - right}" y2="${height - bottom}"/>`,
    ...[0, highest / 2, highest / 1.15].map(
      (value) =>
        `<text class="tick" x="${left - 6}" y="${y(value)}" text-anchor="end" dominant-baseline="middle">${value === 0 ? "0" : short(value)}</text>`,
    ),
    ...points.map(
      ({ size }) =>
        `<text class="tick" x="${x(size)}" y="${height - bottom + 16}" text-anchor="middle">${sizeName(size)}</text>`,
    ),
    ...points.map(
      ({ millis, size }) =>
        `<line class="spread" x1="${x(size)}" y1="${y(millis.least)}" x2="${x(size)}" y2="${y(millis.most)}"/>`,
    ),
    `<polyline class="line" points="${line}"/>`,
    ...points.map(({ millis, size }) => `<circle class="dot" cx="${x(size)}" cy="${y(millis.median)}" r="3"/>`),
    "</g>",
  ].join("\n")
}

const STYLE = `
text { font: 11px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600; fill: #24292f }
.axis { stroke: #d0d7de }
.line { fill: none; stroke: #0969da; stroke-width: 2 }
.spread { stroke: #0969da; stroke-opacity: .35; stroke-width: 6 }
.dot { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #8d96a0 } .title { fill: #e6edf3 } .axis { stroke: #30363d }
  .line, .spread { stroke: #4493f8 } .dot { fill: #4493f8 }
}`

/** Draws the cost of each piece of work as an installation fills, medians with their spread. */
export const plot = (series: ReadonlyArray<Series>): string => {
  const width = series.length * (PANEL.width + GAP) - GAP
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${PANEL.height}" width="${width}" role="img">`,
    "<title>Cost of an operation by number of stored messages</title>",
    `<style>${STYLE}</style>`,
    ...series.map(panel),
    "</svg>",
    "",
  ].join("\n")
}
