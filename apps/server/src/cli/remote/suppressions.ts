import type { Suppression } from "@waybill/client/Waybill"
import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"
import { Data, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import * as Output from "../Output.ts"
import { ApiClient, call, firstOf } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import * as SuppressionLines from "./SuppressionLines.ts"

const COLUMNS = ["email", "reason", "source", "email_id", "created_at"]

const email = Argument.String("email").pipe(Argument.withDescription("Email address"))

const filters = {
  q: Flag.String("search").pipe(Flag.withDescription("Part of the address"), Flag.optional),
  reason: Flag.Literals("reason", SuppressionFile.REASONS).pipe(Flag.withDescription("Reason"), Flag.optional),
  source: Flag.Literals("source", ["email", "request"]).pipe(
    Flag.withDescription("What suppressed it: an email, or a request"),
    Flag.optional,
  ),
  created_after: Flags.time("since", "Only suppressions added at or after"),
  created_before: Flags.time("until", "Only suppressions added before"),
}

const list = Command.make(
  "list",
  { ...filters, limit: Flags.limit, json: Output.json },
  Effect.fn(function* ({ json, limit, ...filters }) {
    yield* Output.print(yield* firstOf((client) => client.suppressions.all(Flags.present(filters)), limit), {
      json,
      columns: COLUMNS,
    })
  }),
).pipe(Command.withDescription("List addresses that no longer receive mail, newest first"))

const add = Command.make(
  "add",
  {
    email,
    reason: Flag.Literals("reason", SuppressionFile.REASONS).pipe(
      Flag.withDescription("Why the address is suppressed"),
      Flag.withDefault("manual" as const),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ email, json, reason }) {
    yield* Output.printOne({ ...(yield* call((client) => client.suppressions.add({ email, reason }))) }, { json })
  }),
).pipe(Command.withDescription("Suppress an address"))

const remove = Command.make(
  "remove",
  { email, json: Output.json },
  Effect.fn(function* ({ email, json }) {
    yield* Output.printOne({ ...(yield* call((client) => client.suppressions.remove(email))) }, { json })
  }),
).pipe(Command.withDescription("Let an address receive mail again"))

class FileFailed extends Data.TaggedError("FileFailed")<{ readonly message: string }> {}

const onFile = <A>(file: string, use: () => Promise<A>) =>
  Effect.tryPromise({
    try: use,
    catch: (cause) => {
      const { code, message } = cause as NodeJS.ErrnoException
      return new FileFailed({ message: `${file}: ${code === "ENOENT" ? "there is no such file or folder" : message}` })
    },
  })

/** Most rejected lines that are shown. */
export const MAX_SHOWN_LINES = 10

const importing = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("File with one address a line, and a reason after a comma, as `export` writes it"),
    ),
    dryRun: Flag.Boolean("dry-run").pipe(Flag.withDescription("Only check the file"), Flag.withDefault(false)),
    remove: Flag.Boolean("remove").pipe(
      Flag.withDescription("Remove the addresses of the file instead of adding them"),
      Flag.withDefault(false),
    ),
    rejected: Flag.String("rejected").pipe(
      Flag.withDescription("File to write the rejected lines to, with the reason of each"),
      Flag.optional,
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ dryRun, file, json, rejected, remove }) {
    const text = yield* onFile(file, () => fs.readFile(file, "utf8"))
    const checked = SuppressionLines.checked(SuppressionFile.parse(text))
    const { lines } = checked
    const report = (done: number) =>
      process.stderr.isTTY ? Output.progress(`${done} of ${lines.length}`, done === lines.length) : Effect.void
    const totals = dryRun
      ? { added: 0, removed: 0, unchanged: 0, rejected: [] }
      : yield* SuppressionLines.change(lines, remove, report).pipe(
          Effect.tapError(() =>
            Output.complain(`waybill: stopped; run it again to continue, known addresses stay as they are`),
          ),
        )
    const all = [...checked.rejected, ...totals.rejected]
    if (Option.isSome(rejected))
      yield* onFile(rejected.value, () =>
        fs.writeFile(rejected.value, SuppressionFile.writeRejected(all), { mode: 0o600 }),
      )
    const { added, removed, unchanged } = totals
    yield* json
      ? Output.printJson({ addresses: lines.length, added, removed, unchanged, rejected: all, dry_run: dryRun })
      : Output.say(
          dryRun
            ? `${lines.length} addresses can be ${remove ? "removed" : "imported"}.`
            : `${remove ? `Removed ${removed}` : `Added ${added}`} addresses; ${unchanged} stayed as they were.`,
        )
    if (all.length > 0) return yield* new LinesRejected({ rejected: all })
  }),
).pipe(Command.withDescription("Suppress every address of a file; a wrong line is reported and left out"))

/** Lines of a file were left out. */
class LinesRejected extends Data.TaggedError("LinesRejected")<{
  readonly rejected: ReadonlyArray<SuppressionFile.RejectedLine>
}> {
  override get message() {
    const shown = this.rejected.slice(0, MAX_SHOWN_LINES).map(({ line, problem }) => `line ${line}: ${problem}`)
    const more = this.rejected.length - shown.length
    const lines = this.rejected.length === 1 ? "1 line was" : `${this.rejected.length} lines were`
    return `${lines} left out. ${shown.join("; ")}${more > 0 ? `; and ${more} more, see --rejected` : ""}`
  }
}

const exporting = Command.make(
  "export",
  {
    file: Argument.String("file").pipe(Argument.withDescription("File to write, - for standard output")),
    ...filters,
    json: Output.json,
  },
  Effect.fn(function* ({ file, json, ...filters }) {
    const report = (addresses: number) =>
      process.stderr.isTTY ? Effect.runSync(Output.progress(`${addresses} addresses`, false)) : undefined
    const rows = yield* call(async (client) => {
      const rows: Array<Suppression> = []
      for await (const row of client.suppressions.all(Flags.present(filters)))
        if (rows.push(row) % SuppressionFile.LINES_PER_REQUEST === 0) report(rows.length)
      return rows
    })
    const text = SuppressionFile.write(rows)
    if (file === "-") return yield* json ? Output.printJson(rows, 2) : Output.sayLines(text.trimEnd())
    yield* onFile(file, () => fs.writeFile(file, text, { mode: 0o600 }))
    yield* json
      ? Output.printJson({ file, addresses: rows.length })
      : Output.say(`${file} contains ${rows.length} addresses.`)
  }),
).pipe(Command.withDescription("Write suppressions to a CSV file"))

export const suppressions = Command.make("suppressions").pipe(
  Command.withDescription("Addresses that no longer receive mail"),
  Command.withSubcommands([list, add, remove, importing, exporting]),
  Command.provide(ApiClient.layer),
)
