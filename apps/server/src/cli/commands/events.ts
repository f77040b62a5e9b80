import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as LogExport from "@waybill/store/operations/LogExport"
import * as LogFile from "@waybill/store/operations/LogFile"
import * as LogImport from "@waybill/store/operations/LogImport"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/Replay"
import { swap } from "@waybill/store/rebuild/Swap"
import { inCommits } from "@waybill/store/readmodels/Projections"
import * as Rearm from "@waybill/store/outbox/Rearm"
import * as TimeTravel from "@waybill/store/streams/TimeTravel"
import * as Users from "@waybill/store/users/Users"
import { Data, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { VERSION } from "../../boot/Version.ts"
import { goOn, linesOf } from "./logFiles.ts"
import * as output from "../output.ts"
import { withNewReplay, withReplay } from "./projections.ts"
import { withStore } from "../CliStore.ts"

class NoSuchStream extends Data.TaggedError("NoSuchStream")<{ readonly message: string }> {}

const stream = Command.make(
  "stream",
  {
    id: Argument.String("id").pipe(Argument.withDescription("A message, a domain, a key, an address…: whose history")),
    asOf: Flag.String("as-of").pipe(
      Flag.withSchema(Timestamp.FromIso),
      Flag.withDescription("What was known by then: ISO 8601 with an offset or Z"),
      Flag.optional,
    ),
    json: output.json,
  },
  Effect.fn(function* ({ asOf, id, json }) {
    // Ids are of small letters, and an address is suppressed in them.
    const found = yield* TimeTravel.streams(id.toLowerCase(), Option.getOrUndefined(asOf))
    if (found.length === 0) return yield* new NoSuchStream({ message: `the log knows nothing of ${id} by then` })
    if (json) return yield* output.printJson(found.map(inJson), 2)
    for (const { account_id, events, stream } of found) {
      yield* output.say(`${stream} ${id} of ${account_id}`)
      yield* output.print(
        events.map(({ data, meta, ...event }) => ({
          ...event,
          type: DomainEvent.publicType(event.type as DomainEvent.Tag),
          actor: meta.actor.id ?? meta.actor.type,
          data,
        })),
        { json, columns: ["version", "recorded_at", "type", "actor", "data"] },
      )
    }
  }),
).pipe(Command.withDescription("Show a history, as it is or as it was"), Command.provide(withStore))

const inJson = ({ events, ...history }: TimeTravel.History) => ({ ...history, events: events.map(LogFile.entryOf) })

const file = Argument.String("file").pipe(Argument.withDescription("A file of JSON lines"))

const takeUp = (name: string) =>
  Effect.tryPromise({
    try: () => goOn(name),
    catch: (cause) =>
      new LogFile.LogFileRefused({ message: `${name}: ${cause instanceof Error ? cause.message : String(cause)}` }),
  })

const exporting = Command.make(
  "export",
  { file, json: output.json },
  Effect.fn(function* ({ file, json }) {
    const { sql } = yield* Replay
    const target = yield* Effect.acquireRelease(takeUp(file), ({ close }) => Effect.promise(close))
    const end = yield* LogExport.end(sql)
    if (target.last !== undefined && !(yield* LogExport.belongs(sql, target.last)))
      return yield* new LogFile.LogFileRefused({
        message: `${file}: this log has no such event as the file's last one, ${target.last.event_id} at position ${target.last.position}; it is the file of another log`,
      })
    if (target.last !== undefined && (yield* LogExport.isErasedSince(sql, target.last)))
      return yield* new LogFile.LogFileRefused({
        message: `${file}: an address was erased since this file was written, and it holds that address still; export into a new one, and remove this`,
      })
    yield* Effect.promise(target.begin)
    const before = target.chain.events
    yield* LogExport.write(sql, target.chain, end, (text) => Effect.promise(() => target.append(text)))
    const { events, position } = target.chain
    yield* json
      ? output.printJson({ events, added: events - before, position })
      : output.say(`${file} holds ${events} events up to position ${position}, ${events - before} of them new.`)
  }, Effect.scoped),
).pipe(Command.withDescription("Write the log into a file, or go on with a file that an earlier export has left"))

const importing = Command.make(
  "import",
  { file, json: output.json },
  Effect.fn(function* ({ file, json }) {
    const { sql } = yield* Replay
    const report = (events: number) => (process.stderr.isTTY ? output.progress(`${events} events`, false) : Effect.void)
    const imported = yield* LogImport.load(sql, linesOf(file), report)
    // Events alone came in; what answers requests is folded from them here.
    for (const { name } of inCommits) {
      yield* Rebuild.rebuild(name, { release: VERSION })
      const { kept } = yield* swap(name, false)
      yield* Rebuild.drop(name, kept)
    }
    const armed = yield* Rearm.rearm(sql)
    const users = yield* Users.restore(sql)
    yield* json
      ? output.printJson({ ...imported, armed, users })
      : output.say(
          `${imported.events} events up to position ${imported.position}, ${imported.already_there} of them were there already; ${inCommits.length} read models are folded from them, ${armed} rows of the outbox and ${users} users.`,
        )
  }),
).pipe(Command.withDescription("Bring a file into an empty log, or go on with one that was stopped"))

export const events = Command.make("events").pipe(
  Command.withDescription("The log itself: a history as it was, and the whole of it from one install to another"),
  Command.withSubcommands([
    stream,
    exporting.pipe(Command.provide(withReplay)),
    importing.pipe(Command.provide(withNewReplay)),
  ]),
)
