import * as Parser from "@waybill/mail/parsing/Parser"
import { DEADLINE_MS_PER_MB, ParserPool } from "@waybill/mail/parsing/ParserPool"
import * as Report from "@waybill/mail/reading/Report"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { CommandRefused } from "../../process/CommandRefused.ts"
import { recordReport } from "../../worker/delivery/recordReport.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

/** Processor time that `reports retry` gives a report: 30 times the deadline of a report that arrives. */
export const RETRY_DEADLINE_MS = 30_000
/** Heap of the thread that `reports retry` parses a report on. */
export const RETRY_MEMORY_MB = 1024

const id = Options.argument("id", "Id of the unread report, rep_…")

const find = Effect.fnUntraced(function* (id: string) {
  const report = yield* UnreadReports.find(id)
  if (Option.isNone(report)) return yield* new CommandRefused({ message: `There is no unread report ${id}.` })
  return report.value
})

const list = DataCommand.command(
  {
    account: Options.argument("account", "Id of the account, acc_…; all accounts if left out").pipe(Argument.optional),
  },
  function* ({ account, json }) {
    const columns = ["id", "received_at", "address", "reason", "size_bytes", "email_id", "account_id"]
    const { missing, rows } = yield* UnreadReports.list(Option.getOrUndefined(account))
    yield* Output.print(rows, { json, columns })
    yield* CellsLeftOut.refuse(missing)
  },
)

const show = DataCommand.plain(
  {
    id,
    raw: Options.isSet("raw", "Write the bytes as they arrived; only into a file or a pipe"),
  },
  function* ({ id, raw }) {
    if (raw && process.stdout.isTTY)
      return yield* new CommandRefused({ message: "--raw does not write to a terminal: redirect it into a file" })
    const { bytes } = yield* find(id)
    if (raw) return yield* Output.write(bytes)
    yield* Output.sayLines(new TextDecoder().decode(bytes).replaceAll("\r\n", "\n"))
  },
)

/** Parser of one thread with a longer deadline than that of the service. */
const slowPool = Effect.acquireRelease(
  Effect.sync(
    () =>
      new ParserPool({
        deadline_ms: RETRY_DEADLINE_MS,
        deadline_ms_per_mb: DEADLINE_MS_PER_MB,
        memory_mb: RETRY_MEMORY_MB,
        threads: 1,
      }),
  ),
  (pool) => Effect.promise(() => pool.end()),
)

const retry = DataCommand.plain({ id, json: Output.json }, function* ({ id: reportId, json }) {
  const { account_id, address, bytes, email_id, id, recipient_index, scope } = yield* find(reportId)
  const parsed = yield* Report.parse(bytes, account_id).pipe(
    Effect.provideService(Parser.Pool, yield* slowPool),
    Effect.catchTag("NotAReport", ({ reason }) => Effect.succeed(reason)),
    Effect.mapError(
      (error) =>
        new CommandRefused({
          message: `${id} could not be parsed (${error._tag === "Busy" ? "busy" : error.why}) and is still kept`,
        }),
    ),
  )
  const about = {
    account_id,
    address,
    emailId: email_id,
    recipientIndex: recipient_index,
    ...(scope === null ? {} : { scope }),
  }
  const events =
    typeof parsed === "string"
      ? 0
      : yield* Effect.mapError(
          recordReport(about, parsed),
          () => new CommandRefused({ message: `${email_id} is being delivered; try again later. ${id} is still kept` }),
        )
  // Removed last: if a retry is stopped before, the next one records nothing twice, since a known fact adds no event.
  yield* UnreadReports.remove(account_id, id)
  const reason = typeof parsed === "string" ? parsed : null
  yield* json
    ? Output.printJson({ id, email_id, events, not_a_report: reason })
    : Output.say(
        reason === null
          ? `${events} events were recorded for ${email_id}; ${id} is removed.`
          : `${id} is not a report (${reason}) and is removed.`,
      )
})

const remove = DataCommand.plain({ id }, function* ({ id: reportId }) {
  const { account_id, id } = yield* find(reportId)
  yield* UnreadReports.remove(account_id, id)
  yield* Output.say(`${id} is removed.`)
})

export const reports = DataCommand.group({
  list: ["List the reports that are kept because their parsing was ended", list],
  show: ["Show an unread report with its control characters escaped", show],
  retry: ["Parse an unread report again with a longer deadline, record what it says and remove it", retry],
  remove: ["Remove an unread report without reading it", remove],
}).with(Command.provide(CliStore.layer))
