import * as Migrations from "@waybill/store/postgres/Migrations"
import type { Comparison } from "@waybill/store/rebuild/Compare"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import * as Status from "@waybill/store/rebuild/Status"
import * as Swap from "@waybill/store/rebuild/Swap"
import { Data, Effect, Layer, Option, type Redacted, Runtime } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { constants, setPriority } from "node:os"
import { Postgres } from "../../boot/Postgres.ts"
import * as Settings from "../../boot/Settings.ts"
import * as Version from "../../boot/Version.ts"
import * as ExitCodes from "../ExitCodes.ts"
import * as Output from "../Output.ts"

const replayOn = <E, F>(
  postgres: (settings: Settings.Settings) => Layer.Layer<Postgres, E>,
  prepare: (url: Redacted.Redacted) => Effect.Effect<unknown, F>,
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* Settings.load
      const replay = Layer.unwrap(
        Effect.gen(function* () {
          const { url } = yield* Postgres
          yield* prepare(url)
          return Replay.layer(url)
        }),
      )
      return replay.pipe(Layer.provide(postgres(settings)))
    }),
  )

/** Connections of a replay, on the database of the service. */
export const withReplay = replayOn(Postgres.layer, Migrations.requireCurrent)
/** Connections of a replay that creates a new embedded database if there is none. */
export const withNewReplay = replayOn(Postgres.layerOrMake, Migrations.migrate)

const name = Argument.String("name").pipe(Argument.withDescription("Read model, as listed by `projections status`"))

const pace = {
  throttle: Flag.Int("throttle").pipe(
    Flag.withDescription("Maximum number of events per second, to leave capacity for the service"),
    Flag.optional,
  ),
  lanes: Flag.Int("lanes").pipe(
    Flag.withDescription("Number of ranges of the log to process in parallel"),
    Flag.optional,
  ),
}

const optionsOf = (
  { lanes, throttle }: { readonly lanes: Option.Option<number>; readonly throttle: Option.Option<number> },
  json: boolean,
): Rebuild.Options => ({
  release: Version.VERSION,
  ...(Option.isNone(lanes) ? {} : { lanes: lanes.value }),
  ...(Option.isNone(throttle) ? {} : { throttle: Math.max(1, throttle.value) }),
  // Prints a line for each report as JSON, and otherwise one line that is overwritten.
  report: (progress) =>
    json ? Output.printJson(progress) : Output.progress(lineOf(progress), progress.phase === "done"),
})

/** Lowers the priority of a throttled replay, so that a service on this machine gets the CPU first. */
const lowerPriority = ({ throttle }: { readonly throttle: Option.Option<number> }) =>
  Option.isNone(throttle) ? Effect.void : Effect.sync(() => setPriority(constants.priority.PRIORITY_LOW))

const BAR = 24

export const lineOf = ({
  eta_seconds,
  events,
  events_per_second,
  name,
  phase,
  total,
  version,
}: Rebuild.Progress): string => {
  const share = phase !== "folding" || total === 0 ? 1 : Math.min(1, events / total)
  const bar = "█".repeat(Math.round(share * BAR)).padEnd(BAR, "·")
  const rest = eta_seconds === null ? phase : `${phase}, ${eta_seconds} s to go`
  const counts = `${events.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} events`
  return `${name} v${version} ${bar} ${counts}, ${events_per_second.toLocaleString("en-US")}/s, ${rest}`
}

const status = Command.make(
  "status",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const columns = ["name", "version", "state", "behind", "rows", "size_bytes"]
    yield* Output.print(
      (yield* Status.status()).map((each) => ({ ...each })),
      { json, columns },
    )
  }),
).pipe(Command.withDescription("List read models, their versions and progress"))

const rebuild = Command.make(
  "rebuild",
  { name, ...pace, json: Output.json },
  Effect.fn(function* ({ json, name, ...pace }) {
    yield* lowerPriority(pace)
    const built = yield* Rebuild.rebuild(name, optionsOf(pace, json))
    if (json) yield* Output.printJson(built)
    else
      yield* Output.say(
        `Version ${built.version} of ${name} is ready. Run \`projections swap ${name}\` to make it live.`,
      )
  }),
).pipe(Command.withDescription("Build a new version from the log beside the live one, or continue a stopped run"))

class Differs extends Data.TaggedError("Differs")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = ExitCodes.EXIT_DIFFERENCE
}

const verify = Command.make(
  "verify",
  { name, ...pace, json: Output.json },
  Effect.fn(function* ({ json, name, ...pace }) {
    yield* lowerPriority(pace)
    const comparison = yield* Rebuild.verify(name, optionsOf(pace, json))
    yield* json ? Output.printJson(comparison) : Output.say(...described(name, comparison))
    if (comparison.differing_rows > 0)
      return yield* new Differs({ message: `${comparison.differing_rows} rows of ${name} do not match the log.` })
  }),
).pipe(Command.withDescription("Check that the live version matches the log, and list rows that do not"))

const described = (
  name: string,
  { buckets, differences, differing_buckets, differing_rows, rows, unproved_rows }: Comparison,
): ReadonlyArray<string> => [
  ...(differing_rows === 0
    ? [`${name} matches the log: ${rows} rows, ${buckets} checksums compared.`]
    : [
        `${differing_rows} rows differ, in ${differing_buckets} of ${buckets} checksums:`,
        ...differences.flatMap(({ folded, key, live }) => [
          Object.entries(key)
            .map(([column, value]) => `${column}=${String(value)}`)
            .join(" "),
          `  live    ${live === null ? "no such row" : JSON.stringify(live)}`,
          `  log     ${folded === null ? "no such row" : JSON.stringify(folded)}`,
        ]),
      ]),
  ...(unproved_rows === 0
    ? []
    : [`${unproved_rows} rows could not be checked: retention has removed events of their times from the log.`]),
]

const swap = Command.make(
  "swap",
  {
    name,
    back: Flag.Boolean("back").pipe(
      Flag.withDescription("Restore the version that was live before"),
      Flag.withDefault(false),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ back, json, name }) {
    const done = yield* Swap.swap(name, back)
    yield* json
      ? Output.printJson(done)
      : Output.say(
          `Version ${done.live} of ${name} is live. Version ${done.kept} is kept for \`projections swap ${name} --back\`.`,
        )
  }),
).pipe(Command.withDescription("Make the new version live, in one short transaction"))

const drop = Command.make(
  "drop",
  { name, version: Argument.Int("version") },
  Effect.fn(function* ({ name, version }) {
    yield* Rebuild.drop(name, version)
    yield* Output.say(`Dropped version ${version} of ${name}.`)
  }),
).pipe(Command.withDescription("Drop a version that is not live"))

export const projections = Command.make("projections").pipe(
  Command.withDescription("Rebuild and verify read models"),
  Command.withSubcommands([status, rebuild, verify, swap, drop]),
  Command.provide(withReplay),
)
