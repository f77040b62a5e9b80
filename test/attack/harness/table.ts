import { limitsOf, type Row } from "./judge.ts"

const MIB = 1024 * 1024
const HEAD = ["attack", "sent", "longest stall (idle)", "peak memory, after", "answered", "bound", "verdict"]

const mib = (bytes: number) => `${bytes < 0 ? "-" : "+"}${Math.round(Math.abs(bytes) / MIB)} MiB`
const ms = (time: number) => `${Math.round(time)} ms`

const cells = ({ summary, failures, figures, idle, rssAfter, scenario }: Row): ReadonlyArray<string> => {
  const { memory_mib, stall_ms } = limitsOf(scenario)
  const { ownStall, rssBefore, rssPeak, stall } = figures
  const own = Math.abs(stall - ownStall) > 20 ? `, own ${ms(ownStall)}` : ""
  return [
    scenario.name,
    scenario.load,
    `${ms(stall)}${own} (${ms(Math.max(idle, figures.noise))})`,
    `${mib(rssPeak - rssBefore)}, ${mib(rssAfter - rssBefore)}`,
    summary,
    `${ms(stall_ms)}, +${memory_mib} MiB`,
    failures.length === 0 ? "held" : `BROKEN: ${failures.join("; ")}`,
  ].map((cell) => printable(cell).replaceAll("|", "\\|"))
}

/** Escapes control characters, because answers of the service are shown on a terminal. */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)

/** Renders a Markdown table, which can be read in a terminal and pasted into an issue. */
export const table = (rows: ReadonlyArray<Row>): string =>
  [HEAD, HEAD.map(() => "---"), ...rows.map(cells)].map((row) => `| ${row.join(" | ")} |`).join("\n")
