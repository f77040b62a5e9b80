import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as ImportedAccounts from "@waybill/store/exports/ImportedAccounts"
import * as LogExport from "@waybill/store/exports/LogExport"
import * as LogFile from "@waybill/store/exports/LogFile"
import * as LogImport from "@waybill/store/exports/LogImport"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import * as Swap from "@waybill/store/rebuild/Swap"
import * as Projections from "@waybill/store/rebuild/versions/Projections"
import * as Rearm from "@waybill/store/recovery/Rearm"
import * as TimeTravel from "@waybill/store/operations/TimeTravel"
import * as Users from "@waybill/store/users/Users"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Version from "../../process/Version.ts"
import * as CellFlags from "../cells/CellFlags.ts"
import * as CellReplays from "../cells/CellReplays.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as LogFiles from "../LogFiles.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"
import { follow } from "../cells/follow.ts"
import * as Options from "../Options.ts"

const stream = DataCommand.command(
  {
    id: Options.argument("id", "Id of a message, domain, key or other object, or a suppressed address"),
    asOf: Flag.String("as-of").pipe(
      Flag.withSchema(Timestamp.FromIso),
      Flag.withDescription("Show the state at this time: ISO 8601 with an offset or Z"),
      Flag.optional,
    ),
  },
  function* ({ asOf, id, json }) {
    // Ids and suppressed addresses are lower case.
    const { histories, unreachable } = yield* TimeTravel.streams(id.toLowerCase(), Option.getOrUndefined(asOf))
    if (histories.length === 0)
      return yield* new CommandRefused({
        message: CellsLeftOut.after(
          `No history found for ${id}${Option.isSome(asOf) ? " at that time" : ""}.`,
          unreachable,
        ),
      })
    if (json) yield* Output.printJson(histories.map(toJson), 2)
    else yield* print(id, histories)
    yield* CellsLeftOut.refuse(unreachable)
  },
).with(Command.provide(CliStore.layer))

const print = Effect.fnUntraced(function* (id: string, histories: ReadonlyArray<TimeTravel.History>) {
  for (const { account_id, events, stream } of histories) {
    yield* Output.say(`${stream} ${id} of ${account_id}`)
    yield* Output.print(
      events.map(({ data, meta, ...event }) => ({
        ...event,
        type: DomainEvent.publicType(event.type as DomainEvent.Tag),
        actor: meta.actor.id ?? meta.actor.type,
        data,
      })),
      { json: false, columns: ["version", "recorded_at", "type", "actor", "data"] },
    )
  }
})

const toJson = ({ events, ...history }: TimeTravel.History) => ({ ...history, events: events.map(LogFile.entryOf) })

const file = Options.argument("file", "A file of JSON lines")

/** Refuses a file that cannot be imported, before a database is opened or created. */
const requireFile = Effect.fnUntraced(function* (file: string) {
  const problem = yield* Effect.promise(() => LogFiles.problemOf(file))
  if (problem !== undefined) return yield* new LogFile.LogFileRefused({ message: `${file}: ${problem}` })
})

const openFile = (name: string) =>
  Effect.tryPromise({
    try: () => LogFiles.open(name),
    catch: (cause) =>
      new LogFile.LogFileRefused({ message: `${name}: ${cause instanceof Error ? cause.message : String(cause)}` }),
  })

const exporting = DataCommand.plain({ file, json: Output.json }, function* ({ file, json }) {
  const logs = yield* CellReplays.logs
  const target = yield* Effect.acquireRelease(openFile(file), ({ close }) => Effect.promise(close))
  const moves = yield* LogExport.moves(logs)
  const end = yield* LogExport.end(logs)
  if (target.last !== undefined && !(yield* LogExport.belongs(logs, target.last)))
    return yield* new LogFile.LogFileRefused({
      message: `${file}: the last event of the file, ${target.last.event_id} at position ${target.last.position}, is not in this log; the file belongs to another log`,
    })
  if (target.last !== undefined && (yield* LogExport.isErasedSince(logs, target.last)))
    return yield* new LogFile.LogFileRefused({
      message: `${file}: an address was erased after this file was written, and the file still contains it; export to a new file and delete this one`,
    })
  yield* Effect.promise(target.begin)
  const before = target.chain.events
  yield* LogExport.write(logs, target.chain, end, (text) => Effect.promise(() => target.append(text)), moves)
  const { events, position } = target.chain
  yield* Output.tell(
    json,
    { events, added: events - before, position },
    `${file} contains ${events} events up to position ${position}, ${events - before} of them new.`,
  )
}).with(Command.provide(CellReplays.layer))

const rebuildAll = Effect.forEach(
  Projections.inCommits,
  ({ name }) =>
    Effect.gen(function* () {
      yield* Rebuild.rebuild(name, { release: Version.VERSION })
      const { kept } = yield* Swap.swap(name, false)
      yield* Rebuild.drop(name, kept)
    }),
  { discard: true },
)

const importing = DataCommand.plain(
  { file, cell: CellFlags.cell, json: Output.json },
  function* ({ cell, file, json }) {
    const [chosen] = Option.isNone(cell) ? [] : yield* CellReplays.chosen(cell)
    const logs = yield* CellReplays.logs
    const [first] = logs
    if (first === undefined) return yield* Effect.die(new Error("a database without cells"))
    const report = (events: number) => (process.stderr.isTTY ? Output.progress(`${events} events`, false) : Effect.void)
    const imported = yield* LogImport.load(
      logs,
      ImportedAccounts.make(first.sql, chosen),
      LogFiles.linesOf(file),
      report,
    )
    let armed = 0
    let users = 0
    for (const { cell, sql } of logs) {
      // Only events are imported, so read models are built from them here.
      yield* CellReplays.inCell(cell, rebuildAll)
      armed += yield* Rearm.rearm(sql)
      users += yield* Users.restore(sql, first.sql)
    }
    yield* ImportedAccounts.restoreNames(logs)
    yield* Output.tell(
      json,
      { ...imported, armed, users },
      `Imported ${imported.events} events up to position ${imported.position}, ${imported.already_there} of which existed. Built ${Projections.inCommits.length} read models, ${armed} outbox rows and ${users} users.`,
    )
  },
)
  .with(Command.provide(CellReplays.layerOrMake))
  // Provided last, so it runs first.
  .with(Command.provideEffectDiscard(({ file }) => requireFile(file)))

export const events = DataCommand.group({
  stream: ["Show the history of an object, now or at a time", stream],
  follow: ["Print the events of all accounts as lines of JSON, as they are committed", follow],
  export: ["Export the log to a file, or continue an earlier export", exporting],
  import: ["Import a file into an empty log, or continue an import", importing],
})
