import * as Migrations from "@waybill/store/postgres/Migrations"
import type { Comparison } from "@waybill/store/rebuild/Compare"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import { status as statusOf } from "@waybill/store/rebuild/Status"
import { swap as swapVersions } from "@waybill/store/rebuild/Swap"
import { Data, Effect, Layer, Option, type Redacted, Runtime } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { constants, setPriority } from "node:os"
import { Postgres } from "../../boot/Postgres.ts"
import * as Settings from "../../boot/Settings.ts"
import { VERSION } from "../../boot/Version.ts"
import { EXIT_DIFFERENCE } from "../exitCodes.ts"
import * as output from "../output.ts"

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

/** What a replay is given: connections to the log and its tables, and nothing that acts. */
export const withReplay = replayOn(Postgres.layer, Migrations.requireCurrent)
/** The same for an import, which may come before everything else. */
export const withNewReplay = replayOn(Postgres.layerOrMake, Migrations.migrate)

const name = Argument.String("name").pipe(Argument.withDescription("The read model, as `projections status` lists it"))

const pace = {
  throttle: Flag.Int("throttle").pipe(
    Flag.withDescription("Events a second at most, to leave room for a busy service"),
    Flag.optional,
  ),
  lanes: Flag.Int("lanes").pipe(
    Flag.withDescription("Stretches of the log that are worked on side by side"),
    Flag.optional,
  ),
}

const optionsOf = (
  { lanes, throttle }: { readonly lanes: Option.Option<number>; readonly throttle: Option.Option<number> },
  json: boolean,
): Rebuild.Options => ({
  release: VERSION,
  ...(Option.isNone(lanes) ? {} : { lanes: lanes.value }),
  ...(Option.isNone(throttle) ? {} : { throttle: Math.max(1, throttle.value) }),
  // One line each to a script; to a person one line that is written over.
  report: (progress) =>
    json ? output.printJson(progress) : output.progress(lineOf(progress), progress.phase === "done"),
})

/** A throttle is there for others: where they are on this machine, they have the processor first. */
const giveWay = ({ throttle }: { readonly throttle: Option.Option<number> }) =>
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
  { json: output.json },
  Effect.fn(function* ({ json }) {
    const columns = ["name", "version", "state", "behind", "rows", "size_bytes"]
    yield* output.print(
      (yield* statusOf()).map((each) => ({ ...each })),
      { json, columns },
    )
  }),
).pipe(Command.withDescription("List the read models, their versions and how far each has come"))

const rebuild = Command.make(
  "rebuild",
  { name, ...pace, json: output.json },
  Effect.fn(function* ({ json, name, ...pace }) {
    yield* giveWay(pace)
    const built = yield* Rebuild.rebuild(name, optionsOf(pace, json))
    if (json) yield* output.printJson(built)
    else yield* output.say(`Version ${built.version} of ${name} is ready; \`projections swap ${name}\` makes it live.`)
  }),
).pipe(Command.withDescription("Fold the log into a new version beside the live one; goes on where a run was stopped"))

class Differs extends Data.TaggedError("Differs")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = EXIT_DIFFERENCE
}

const verify = Command.make(
  "verify",
  { name, ...pace, json: output.json },
  Effect.fn(function* ({ json, name, ...pace }) {
    yield* giveWay(pace)
    const found = yield* Rebuild.verify(name, optionsOf(pace, json))
    yield* json ? output.printJson(found) : output.say(...described(name, found))
    if (found.differing_rows > 0)
      return yield* new Differs({ message: `${name} is not what the log says in ${found.differing_rows} rows` })
  }),
).pipe(Command.withDescription("Prove that the live version is what the log says, or name the rows that are not"))

const described = (
  name: string,
  { buckets, differences, differing_buckets, differing_rows, rows, unproved_rows }: Comparison,
): ReadonlyArray<string> => [
  ...(differing_rows === 0
    ? [`${name} is what the log says: ${rows} rows, ${buckets} checksums alike.`]
    : [
        `${differing_rows} rows differ, in ${differing_buckets} of ${buckets} checksums:`,
        ...differences.flatMap(({ folded, key, live }) => [
          Object.entries(key)
            .map(([column, value]) => `${column}=${String(value)}`)
            .join(" "),
          `  live    ${live === null ? "no such row" : JSON.stringify(live)}`,
          `  folded  ${folded === null ? "no such row" : JSON.stringify(folded)}`,
        ]),
      ]),
  ...(unproved_rows === 0
    ? []
    : [`${unproved_rows} of its rows are of times that the log does not hold in full any more; nothing proves them.`]),
]

const swap = Command.make(
  "swap",
  {
    name,
    back: Flag.Boolean("back").pipe(
      Flag.withDescription("Bring the version back that was live before"),
      Flag.withDefault(false),
    ),
    json: output.json,
  },
  Effect.fn(function* ({ back, json, name }) {
    const done = yield* swapVersions(name, back)
    yield* json
      ? output.printJson(done)
      : output.say(`Version ${done.live} of ${name} is live; version ${done.kept} is kept for \`swap ${name} --back\`.`)
  }),
).pipe(Command.withDescription("Make the version that is ready the live one, in one short transaction"))

const drop = Command.make(
  "drop",
  { name, version: Argument.Int("version") },
  Effect.fn(function* ({ name, version }) {
    yield* Rebuild.drop(name, version)
    yield* output.say(`Version ${version} of ${name} is gone.`)
  }),
).pipe(Command.withDescription("Throw a version away that is not live"))

export const projections = Command.make("projections").pipe(
  Command.withDescription("Read models: rebuild them from the log, and prove that they are what it says"),
  Command.withSubcommands([status, rebuild, verify, swap, drop]),
  Command.provide(withReplay),
)
