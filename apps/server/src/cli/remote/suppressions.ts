import type { Suppression } from "@waybill/client/Waybill"
import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"
import { Data, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import { ApiClient, call } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import * as SuppressionLines from "./SuppressionLines.ts"
import * as ApiCommand from "./ApiCommand.ts"

const COLUMNS = ["email", "reason", "source", "email_id", "created_at"]

const email = Options.argument("email", "Email address")

const filters = {
  q: Options.text("search", "Part of the address"),
  reason: Options.oneOf("reason", SuppressionFile.REASONS, "Reason"),
  source: Options.oneOf("source", ["email", "request"], "What suppressed it: an email, or a request"),
  created_after: Flags.time("since", "Only suppressions added at or after"),
  created_before: Flags.time("until", "Only suppressions added before"),
}

const list = ApiCommand.list(filters, COLUMNS, "No suppressed addresses match.", (client, filters) =>
  client.suppressions.all(filters),
)

const add = DataCommand.told(
  {
    email,
    reason: Flag.Literals("reason", SuppressionFile.REASONS).pipe(
      Flag.withDescription("Why the address is suppressed"),
      Flag.withDefault("manual" as const),
    ),
  },
  function* ({ email, reason }) {
    return yield* call((client) => client.suppressions.add({ email, reason }))
  },
  ({ email }) => Output.say(`${email} is suppressed.`),
)

const remove = DataCommand.told(
  { email },
  function* ({ email }) {
    return yield* call((client) => client.suppressions.remove(email))
  },
  ({ email }) => Output.say(`${email} is no longer suppressed.`),
)

const onFile = <A>(file: string, use: () => Promise<A>) =>
  Effect.tryPromise({
    try: use,
    catch: (cause) => {
      const { code, message } = cause as NodeJS.ErrnoException
      return new CommandRefused({
        message: `${file}: ${code === "ENOENT" ? "there is no such file or folder" : message}`,
      })
    },
  })

/** Most rejected lines that are shown. */
export const MAX_SHOWN_LINES = 10

const importing = DataCommand.command(
  {
    file: Options.argument("file", "File with one address a line, and a reason after a comma, as `export` writes it"),
    dryRun: Options.isSet("dry-run", "Only check the file"),
    remove: Options.isSet("remove", "Remove the addresses of the file instead of adding them"),
    rejected: Options.text("rejected", "File to write the rejected lines to, with the reason of each"),
  },
  function* ({ dryRun, file, json, rejected, remove }) {
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
    yield* Output.tell(
      json,
      { addresses: lines.length, added, removed, unchanged, rejected: all, dry_run: dryRun },
      dryRun
        ? `${lines.length} addresses can be ${remove ? "removed" : "imported"}.`
        : `${remove ? `Removed ${removed}` : `Added ${added}`} addresses; ${unchanged} stayed as they were.`,
    )
    if (all.length > 0) return yield* new LinesRejected({ rejected: all })
  },
)

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

const exporting = DataCommand.command(
  {
    file: Options.argument("file", "File to write, - for standard output"),
    ...filters,
  },
  function* ({ file, json, ...filters }) {
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
    yield* Output.tell(json, { file, addresses: rows.length }, `${file} contains ${rows.length} addresses.`)
  },
)

export const suppressions = DataCommand.group({
  list: ["List addresses that no longer receive mail, newest first", list],
  add: ["Suppress an address", add],
  remove: ["Let an address receive mail again", remove],
  import: ["Suppress every address of a file; a wrong line is reported and left out", importing],
  export: ["Write suppressions to a CSV file", exporting],
}).with(Command.provide(ApiClient.layer))
