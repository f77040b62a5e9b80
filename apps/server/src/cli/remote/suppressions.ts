import type { Suppression } from "@waybill/client/Waybill"
import { Data, Duration, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as fs from "node:fs/promises"
import * as Output from "../Output.ts"
import { ApiClient, call, firstOf } from "./ApiClient.ts"
import * as Flags from "./Flags.ts"
import * as SuppressionFile from "./SuppressionFile.ts"

const COLUMNS = ["email", "reason", "email_id", "created_at"]
/** Requests of an import at the same time. */
const CONCURRENCY = 4
/** Pause after a 429 that names none. */
const DEFAULT_PAUSE_S = 1

const email = Argument.String("email").pipe(Argument.withDescription("Email address"))

const list = Command.make(
  "list",
  { limit: Flags.limit, json: Output.json },
  Effect.fn(function* ({ json, limit }) {
    yield* Output.print(yield* firstOf((client) => client.suppressions.all(), limit), { json, columns: COLUMNS })
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

/** Adds a suppression, and waits as long as the rate limit asks. */
const addPatiently = (line: SuppressionFile.Line) =>
  Effect.retry(
    call((client) => client.suppressions.add(line)),
    {
      while: ({ error }) =>
        error.status !== 429
          ? Effect.succeed(false)
          : Effect.as(Effect.sleep(Duration.seconds(error.retryAfter ?? DEFAULT_PAUSE_S)), true),
    },
  )

const importing = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("File with one address a line, and a reason after a comma, as `export` writes it"),
    ),
    dryRun: Flag.Boolean("dry-run").pipe(Flag.withDescription("Only check the file"), Flag.withDefault(false)),
    json: Output.json,
  },
  Effect.fn(function* ({ dryRun, file, json }) {
    const parsed = SuppressionFile.parse(yield* onFile(file, () => fs.readFile(file, "utf8")))
    if (parsed instanceof SuppressionFile.FileRefused) return yield* parsed
    let done = 0
    const report = () =>
      process.stderr.isTTY ? Output.progress(`${done} of ${parsed.length}`, done === parsed.length) : Effect.void
    if (!dryRun)
      yield* Effect.forEach(
        parsed,
        (line) =>
          Effect.andThen(
            addPatiently(line),
            Effect.suspend(() => (done++, report())),
          ),
        { concurrency: CONCURRENCY, discard: true },
      ).pipe(
        Effect.tapError(() =>
          Output.complain(`waybill: stopped after ${done} of ${parsed.length} addresses; run it again to continue`),
        ),
      )
    yield* json
      ? Output.printJson({ addresses: parsed.length, imported: done, dry_run: dryRun })
      : Output.say(
          dryRun
            ? `${parsed.length} addresses can be imported.`
            : `Imported ${done} addresses; known ones stay as they were.`,
        )
  }),
).pipe(Command.withDescription("Suppress every address of a file; nothing is imported if a line is wrong"))

const exporting = Command.make(
  "export",
  {
    file: Argument.String("file").pipe(Argument.withDescription("File to write, - for standard output")),
  },
  Effect.fn(function* ({ file }) {
    const rows = yield* call(async (client) => {
      const rows: Array<Suppression> = []
      for await (const row of client.suppressions.all()) rows.push(row)
      return rows
    })
    const text = SuppressionFile.write(rows)
    if (file === "-") return yield* Output.sayLines(text.trimEnd())
    yield* onFile(file, () => fs.writeFile(file, text, { mode: 0o600 }))
    yield* Output.say(`${file} contains ${rows.length} addresses.`)
  }),
).pipe(Command.withDescription("Write all suppressions to a CSV file"))

export const suppressions = Command.make("suppressions").pipe(
  Command.withDescription("Addresses that no longer receive mail"),
  Command.withSubcommands([list, add, remove, importing, exporting]),
  Command.provide(ApiClient.layer),
)
