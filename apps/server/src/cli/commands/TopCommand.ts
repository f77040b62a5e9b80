import { KINDS } from "@waybill/store/outbox/OutboxRow"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import { Clock, DateTime, Duration, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Version from "../../process/Version.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as OutputStyle from "../OutputStyle.ts"
import * as TerminalTable from "../TerminalTable.ts"
import * as CliStore from "../CliStore.ts"

/** Period over which rates are averaged. */
export const RATES_OVER = Duration.seconds(10)
export const DEFAULT_INTERVAL_S = 2

const MB = 1_000_000
const ALTERNATE_SCREEN = "\u001b[?1049h\u001b[?25l"
const MAIN_SCREEN = "\u001b[?25h\u001b[?1049l"
const CLEAR_SCREEN = "\u001b[H\u001b[J"

interface Snapshot extends InstanceStats.InstanceStats {
  readonly at: string
  /** Events per second, by type. */
  readonly per_second: Readonly<Record<string, number>>
}

const takeSnapshot = Effect.gen(function* () {
  const at = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
  const [stats, per_second] = yield* Effect.all([InstanceStats.read(), InstanceStats.eventRates(RATES_OVER)])
  return { at, ...stats, per_second } satisfies Snapshot
})

/** Snapshots whose rates are drawn, the newest last. */
const MAX_DRAWN = 30

/** Shows snapshots on an alternate screen until it is interrupted, and then restores the terminal. */
export const watch = (interval_s: number, write: (text: string) => Effect.Effect<void>) =>
  Effect.acquireUseRelease(
    write(ALTERNATE_SCREEN),
    () =>
      Effect.gen(function* () {
        const style = yield* OutputStyle.StandardOutput
        let drawn: ReadonlyArray<Snapshot> = []
        return yield* Effect.forever(
          Effect.gen(function* () {
            drawn = [...drawn, yield* takeSnapshot].slice(-MAX_DRAWN)
            yield* write(`${CLEAR_SCREEN}${screen(drawn, style).join("\n")}\n`)
            yield* Effect.sleep(Duration.seconds(interval_s))
          }),
        )
      }),
    () => write(MAIN_SCREEN),
  )

export const top = DataCommand.command(
  {
    interval: Flag.Int("interval").pipe(
      Flag.withDescription("Seconds between updates"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_600 }))),
      Flag.withDefault(DEFAULT_INTERVAL_S),
    ),
  },
  function* ({ interval, json }) {
    if (json) return yield* Output.printOne(yield* takeSnapshot, { json })
    // A pipe gets one snapshot.
    if (!process.stdout.isTTY)
      return yield* Output.say(...screen([yield* takeSnapshot], { columns: undefined, hasColours: false }))
    yield* watch(interval, (text) => Effect.sync(() => void process.stdout.write(text)))
  },
).with(Command.provide(CliStore.layer))

const WATCHED = [
  ["accepted", "EmailQueued"],
  ["delivered", "EmailDelivered"],
  ["sent", "EmailSent"],
  ["deferred", "EmailDeferred"],
  ["bounced", "EmailBounced"],
  ["failed", "EmailFailed"],
] as const

const BARS = "▁▂▃▄▅▆▇█"

/** Draws numbers as bars, the highest of all as a full one. */
const barsOf = (values: ReadonlyArray<number>, highest: number): string =>
  values
    .map((value) =>
      value <= 0 ? " " : (BARS[Math.min(BARS.length - 1, Math.floor((value / highest) * BARS.length))] ?? ""),
    )
    .join("")

/** Writes the newest snapshot, and the rates of those before it as bars. */
const screen = (snapshots: ReadonlyArray<Snapshot>, style: OutputStyle.Style): ReadonlyArray<string> => {
  const newest = snapshots.at(-1)
  if (newest === undefined) return []
  const { at, connections, followers, position, queue, size_bytes, workers } = newest
  const rateOf = (type: string) => snapshots.map(({ per_second }) => per_second[type] ?? 0)
  const highest = Math.max(...WATCHED.flatMap(([, type]) => rateOf(type)), Number.MIN_VALUE)
  const rowOf = (kind: string) => {
    const rowIn = (state: InstanceStats.QueueStats["state"]) =>
      queue.find((row) => row.kind === kind && row.state === state)
    const first = Option.fromUndefinedOr(rowIn("ready")?.oldest_s)
    return [
      kind,
      ...InstanceStats.STATES.map((state) => whole(rowIn(state)?.rows ?? 0)),
      Option.match(first, { onNone: () => "-", onSome: (seconds) => `${seconds.toFixed(1)} s` }),
    ]
  }
  const rates = table([
    ["per second", ""],
    ...WATCHED.map(([word, type]) => [word, (rateOf(type).at(-1) ?? 0).toFixed(1)]),
  ])
  const drawn = WATCHED.map(([word, type]) => {
    const bars = snapshots.length === 1 ? "" : barsOf(rateOf(type), highest)
    return `  ${OutputStyle.coloured(bars, OutputStyle.colourOf(word), style)}`.trimEnd()
  })
  const [rateHead = "", ...rateLines] = rates
  return [
    `Waybill ${Version.VERSION}   ${workers} ${workers === 1 ? "worker" : "workers"} active   log position ${whole(position)}   ${whole(size_bytes / MB)} MB   ${at.slice(11, 19)} UTC`,
    "",
    ...headed([rateHead, ...rateLines.map((line, nth) => `${line}${drawn[nth] ?? ""}`)], style),
    "",
    ...headed(table([["queue", "ready", "in flight", "later", "oldest"], ...KINDS.map(rowOf)]), style),
    "",
    ...headed(
      table([
        ["projection", "behind", "by"],
        ...followers.map(({ behind_events, behind_s, name }) => [
          name,
          whole(behind_events),
          `${behind_s.toFixed(1)} s`,
        ]),
      ]),
      style,
    ),
    "",
    ...headed(
      table([
        ["connections", "state", ""],
        ...connections.map(({ application, connections, state }) => [application, state, whole(connections)]),
      ]),
      style,
    ),
  ]
}

const headed = ([head = "", ...lines]: ReadonlyArray<string>, style: OutputStyle.Style): ReadonlyArray<string> => [
  OutputStyle.coloured(head.trimEnd(), "dim", style),
  ...lines,
]

const whole = (count: number): string => Math.round(count).toLocaleString("en")

/** Aligns the first column to the left and the others to the right, within the width of any terminal. */
const table = (input: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  // Escaped before widths are measured, since clients of the database choose the names of their connections.
  const rows = input.map((row) => row.map((text) => TerminalTable.clip(HiddenCharacters.escape(text), MAX_CELL)))
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) =>
    row.map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0))).join("  "),
  )
}

const MAX_CELL = 36
