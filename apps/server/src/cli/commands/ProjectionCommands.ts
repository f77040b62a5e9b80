import * as CellName from "@waybill/store/routing/CellName"
import type { Comparison } from "@waybill/store/rebuild/Compare"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { ReplayRefused } from "@waybill/store/rebuild/versions/Replay"
import * as Status from "@waybill/store/rebuild/Status"
import * as Swap from "@waybill/store/rebuild/Swap"
import { Effect, Option, Result } from "effect"
import { Argument, Command } from "effect/cli"
import { constants, setPriority } from "node:os"
import { CheckDiffers } from "../../process/CommandRefused.ts"
import * as Version from "../../process/Version.ts"
import * as CellFlags from "../cells/CellFlags.ts"
import * as CellReplays from "../cells/CellReplays.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"

const name = Options.argument("name", "Read model, as listed by `projections status`")

const pace = {
  throttle: Options.int("throttle", "Maximum number of events per second, to leave capacity for the service"),
  lanes: Options.int("lanes", "Number of ranges of the log to process in parallel"),
}

const optionsOf = (
  { lanes, throttle }: { readonly lanes: Option.Option<number>; readonly throttle: Option.Option<number> },
  json: boolean,
  cell: CellName.CellName,
): Rebuild.Options => ({
  release: Version.VERSION,
  ...(Option.isNone(lanes) ? {} : { lanes: lanes.value }),
  ...(Option.isNone(throttle) ? {} : { throttle: Math.max(1, throttle.value) }),
  // Prints a line for each report as JSON, and otherwise one line that is overwritten.
  report: (progress) =>
    json
      ? Output.printJson({ ...progress, ...labelOf(cell) })
      : Output.progress(`${prefixOf(cell)}${lineOf(progress)}`, progress.phase === "done"),
})

/** Names the cell of an output, unless it is the first one. */
const labelOf = (cell: CellName.CellName) => (cell === CellName.FIRST ? {} : { cell })
const prefixOf = (cell: CellName.CellName) => (cell === CellName.FIRST ? "" : `${cell}: `)

/** Results of the chosen cells, each with the name of its cell, and the cells that did not answer. */
interface InCells<A> {
  readonly done: ReadonlyArray<{ readonly cell: CellName.CellName; readonly result: A }>
  readonly unreachable: ReadonlyArray<CellName.CellName>
}

/** Does work in the chosen cells that answer, one after the other. */
const inCells = Effect.fnUntraced(function* <A, E, R>(
  named: Option.Option<string>,
  work: (cell: CellName.CellName) => Effect.Effect<A, E, R>,
) {
  const { results, unreachable } = yield* CellReplays.inEach(yield* CellReplays.chosen(named), work)
  return { done: results.map(([cell, result]) => ({ cell, result })), unreachable } satisfies InCells<A>
})

/** Adds up what cells returned, for the last line of JSON. That of a single cell is as it is. */
const total = <A extends object, K extends keyof A>({ done, unreachable }: InCells<A>, sums: ReadonlyArray<K>) => {
  if (done.length + unreachable.length === 1) return { ...done[0]?.result }
  const added = sums.map((name) => [name, done.reduce((sum, { result }) => sum + Number(result[name]), 0)])
  return {
    ...Object.fromEntries(added),
    cells: done.map(({ cell, result }) => ({ cell, ...result })),
    ...(unreachable.length === 0 ? {} : { unreachable }),
  }
}

/** Prints the total as JSON, or says the lines of each cell. */
const tell = <A extends object>(
  json: boolean,
  { done }: Pick<InCells<A>, "done">,
  value: object,
  linesOf: (result: A) => ReadonlyArray<string>,
) =>
  json
    ? Output.printJson(value)
    : Output.say(...done.flatMap(({ cell, result }) => linesOf(result).map((line) => `${prefixOf(cell)}${line}`)))

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

const status = DataCommand.command({ cell: CellFlags.cell }, function* ({ cell, json }) {
  const { done, unreachable } = yield* inCells(cell, () => Status.status())
  const isOne = done.length + unreachable.length === 1
  const columns = ["name", "version", "state", "behind", "rows", "size_bytes"]
  const rows = done.flatMap(({ cell, result }) => result.map((each) => (isOne ? { ...each } : { cell, ...each })))
  yield* Output.print(rows, { json, columns: isOne ? columns : ["cell", ...columns] })
  yield* CellsLeftOut.refuse(unreachable)
})

const rebuild = DataCommand.command({ name, ...pace, cell: CellFlags.cell }, function* ({ cell, json, name, ...pace }) {
  yield* lowerPriority(pace)
  const built = yield* inCells(cell, (cell) => Rebuild.rebuild(name, optionsOf(pace, json, cell)))
  yield* tell(json, built, { name, ...total(built, ["events", "worked_ms"]) }, ({ version }) => [
    `Version ${version} of ${name} is ready. Run \`projections swap ${name}\` to make it live.`,
  ])
  yield* CellsLeftOut.refuse(built.unreachable)
})

const verify = DataCommand.command({ name, ...pace, cell: CellFlags.cell }, function* ({ cell, json, name, ...pace }) {
  yield* lowerPriority(pace)
  const compared = yield* inCells(cell, (cell) => Rebuild.verify(name, optionsOf(pace, json, cell)))
  const sums = total(compared, ["rows", "unproved_rows", "differing_rows"])
  yield* tell(json, compared, sums, (result) => described(name, result))
  const differing = compared.done.reduce((sum, { result }) => sum + result.differing_rows, 0)
  if (differing > 0) {
    const message = `${differing} rows of ${name} do not match the log.`
    return yield* new CheckDiffers({ message: CellsLeftOut.after(message, compared.unreachable) })
  }
  yield* CellsLeftOut.refuse(compared.unreachable)
})

const described = (
  name: string,
  { buckets, differences, differing_buckets, differing_rows, moved = [], rows, unproved_rows }: Comparison,
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
  ...(moved.length === 0 ? [] : [`Accounts that move to another cell were left out: ${moved.join(", ")}.`]),
]

const swap = DataCommand.command(
  {
    name,
    back: Options.isSet("back", "Restore the version that was live before"),
    cell: CellFlags.cell,
  },
  function* ({ back, cell, json, name }) {
    // A cell that refuses keeps no other one from its swap, so that the command can be repeated.
    const swaps = yield* inCells(cell, () =>
      Swap.swap(name, back).pipe(
        Effect.map((swapped) => Result.succeed(swapped)),
        Effect.catchTag("ReplayRefused", (refused) => Effect.succeed(Result.fail(refused))),
      ),
    )
    const done = swaps.done.flatMap(({ cell, result }) =>
      Result.isSuccess(result) ? [{ cell, result: result.success }] : [],
    )
    const refused = swaps.done.flatMap(({ cell, result }) =>
      Result.isFailure(result) ? [`${prefixOf(cell)}${result.failure.message}`] : [],
    )
    yield* tell(json && done.length > 0, { done }, { name, ...total({ ...swaps, done }, []) }, ({ kept, live }) => [
      `Version ${live} of ${name} is live. Version ${kept} is kept for \`projections swap ${name} --back\`.`,
    ])
    if (refused.length > 0)
      return yield* new ReplayRefused({ message: CellsLeftOut.after(refused.join("; "), swaps.unreachable) })
    yield* CellsLeftOut.refuse(swaps.unreachable)
  },
)

const drop = DataCommand.plain(
  { name, version: Argument.Int("version"), cell: CellFlags.cell },
  function* ({ cell, name, version }) {
    const cells = yield* CellReplays.chosen(cell)
    if (cells.length > 1)
      return yield* new ReplayRefused({
        message: `versions differ between cells: name one of ${cells.join(", ")} by --cell`,
      })
    const { unreachable } = yield* inCells(cell, () => Rebuild.drop(name, version))
    yield* CellsLeftOut.refuse(unreachable)
    yield* Output.say(`Dropped version ${version} of ${name}.`)
  },
)

export const projections = DataCommand.group({
  status: ["List read models, their versions and progress", status],
  rebuild: ["Build a new version from the log beside the live one, or continue a stopped run", rebuild],
  verify: ["Check that the live version matches the log, and list rows that do not", verify],
  swap: ["Make the new version live, in one short transaction", swap],
  drop: ["Drop a version that is not live", drop],
}).with(Command.provide(CellReplays.layer))
