import { KINDS } from "@waybill/store/outbox/OutboxRow"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import { Clock, DateTime, Duration, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Version from "../../process/Version.ts"
import * as Output from "../Output.ts"
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

/** Shows snapshots on an alternate screen until it is interrupted, and then restores the terminal. */
export const watch = (interval_s: number, write: (text: string) => Effect.Effect<void>) =>
  Effect.acquireUseRelease(
    write(ALTERNATE_SCREEN),
    () =>
      takeSnapshot.pipe(
        Effect.flatMap((snapshot) =>
          write(`${CLEAR_SCREEN}${screen(snapshot).map(HiddenCharacters.escape).join("\n")}\n`),
        ),
        Effect.andThen(Effect.sleep(Duration.seconds(interval_s))),
        Effect.forever,
      ),
    () => write(MAIN_SCREEN),
  )

export const top = Command.make(
  "top",
  {
    json: Output.json,
    interval: Flag.Int("interval").pipe(
      Flag.withDescription("Seconds between updates"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_600 }))),
      Flag.withDefault(DEFAULT_INTERVAL_S),
    ),
  },
  Effect.fn(function* ({ interval, json }) {
    if (json) return yield* Output.printOne({ ...(yield* takeSnapshot) }, { json })
    // A pipe gets one snapshot.
    if (!process.stdout.isTTY) return yield* Output.say(...screen(yield* takeSnapshot))
    yield* watch(interval, (text) => Effect.sync(() => void process.stdout.write(text)))
  }),
).pipe(Command.withDescription("Watch rates, queue, projections and connections"), Command.provide(CliStore.layer))

const WATCHED = [
  ["accepted", "EmailQueued"],
  ["delivered", "EmailDelivered"],
  ["sent", "EmailSent"],
  ["deferred", "EmailDeferred"],
  ["bounced", "EmailBounced"],
  ["failed", "EmailFailed"],
] as const

const screen = ({
  at,
  connections,
  followers,
  per_second,
  position,
  queue,
  size_bytes,
  workers,
}: Snapshot): ReadonlyArray<string> => {
  const rates = WATCHED.map(([word, type]) => `${word} ${(per_second[type] ?? 0).toFixed(1)}`)
  const rowOf = (kind: string) => {
    const rowIn = (state: InstanceStats.QueueStats["state"]) =>
      queue.find((row) => row.kind === kind && row.state === state)
    const first = Option.fromUndefinedOr(rowIn("ready")?.oldest_s)
    return [
      kind,
      ...InstanceStats.STATES.map((state) => whole(rowIn(state)?.rows ?? 0)),
      Option.match(first, { onNone: () => "-", onSome: (seconds) => `${Math.max(0, seconds).toFixed(1)} s` }),
    ]
  }
  return [
    `Waybill ${Version.VERSION}   ${at}   ${workers} ${workers === 1 ? "worker" : "workers"} active   log position ${whole(position)}   ${whole(size_bytes / MB)} MB`,
    `per second: ${rates.join("   ")}`,
    "",
    ...table([["queue", "ready", "in flight", "later", "oldest"], ...KINDS.map(rowOf)]),
    "",
    ...table([
      ["projection", "behind", "by"],
      ...followers.map(({ behind_events, behind_s, name }) => [name, whole(behind_events), `${behind_s.toFixed(1)} s`]),
    ]),
    "",
    ...table([
      ["connections", "state", ""],
      ...connections.map(({ application, connections, state }) => [application, state, whole(connections)]),
    ]),
  ]
}

const whole = (count: number): string => Math.round(count).toLocaleString("en")

/** Aligns the first column to the left and the others to the right. */
const table = (input: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  // Escaped before widths are measured, since clients of the database choose the names of their connections.
  const rows = input.map((row) => row.map(HiddenCharacters.escape))
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) =>
    row.map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0))).join("  "),
  )
}
