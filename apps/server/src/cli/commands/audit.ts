import * as Reachable from "@waybill/store/routing/Reachable"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { CheckDiffers } from "../../process/CommandRefused.ts"
import * as CellsLeftOut from "../CellsLeftOut.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

/** Fails if something is wrong, or else if databases could not be checked. */
const end = (wrong: ReadonlyArray<unknown>, message: string, unreachable: ReadonlyArray<string>) =>
  wrong.length === 0
    ? CellsLeftOut.refuse(unreachable)
    : Effect.fail(new CheckDiffers({ message: CellsLeftOut.after(message, unreachable) }))

/** Maximum number of ids of one kind that are printed below the table. */
const MAX_IDS = 10

/** Prints balances as JSON, or as a table with the number of ids in place of a list, and the first ids below it. */
const print = Effect.fnUntraced(function* <A extends object>(
  balances: ReadonlyArray<A>,
  columns: ReadonlyArray<string & keyof A>,
  json: boolean,
) {
  if (json) return yield* Output.print(balances, { json, columns })
  const counted = balances.map((balance) =>
    Object.fromEntries(
      columns.map((name) => [name, Array.isArray(balance[name]) ? balance[name].length : balance[name]]),
    ),
  )
  yield* Output.print(counted, { json, columns })
  for (const name of columns) {
    const ids = balances.flatMap((balance) => (Array.isArray(balance[name]) ? (balance[name] as Array<string>) : []))
    if (ids.length === 0) continue
    const more = ids.length > MAX_IDS ? ` (the first ${MAX_IDS}; all with --json)` : ""
    yield* Output.say("", `${name}${more}:`, ...ids.slice(0, MAX_IDS).map((id) => `  ${id}`))
  }
})

const webhooks = DataCommand.command({}, function* ({ json }) {
  const { rows: balances, unreachable } = yield* Reachable.rowsOf(Conservation.webhooks())
  yield* print(balances, ["account_id", "webhook_id", "events", "deliveries", "missing", "mismatched"], json)
  const wrong = balances.filter(({ deliveries, events, mismatched }) => deliveries !== events || mismatched.length > 0)
  yield* end(wrong, `Deliveries of ${count(wrong, "webhook")} do not match the log.`, unreachable)
})

const emails = DataCommand.command({}, function* ({ json }) {
  const { rows: balances, unreachable } = yield* Reachable.rowsOf(Conservation.emails())
  yield* Output.print(balances, {
    json,
    columns: ["account_id", "day", "accepted", "final", "in_flight", "mismatched"],
  })
  const wrong = balances.filter((each) => each.accepted !== each.final + each.in_flight || each.mismatched > 0)
  yield* end(wrong, `Recipients of ${count(wrong, "day")} do not match the log.`, unreachable)
})

const work = DataCommand.command({}, function* ({ json }) {
  const { rows, unreachable } = yield* Reachable.rowsOf(Conservation.work())
  const balances = Conservation.totalWork(rows)
  yield* print(balances, ["kind", "waiting", "missing", "unexpected"], json)
  const wrong = balances.filter(({ missing, unexpected }) => missing.length > 0 || unexpected.length > 0)
  yield* end(wrong, `The outbox does not match the log in ${count(wrong, "kind")} of work.`, unreachable)
})

const log = DataCommand.command({}, function* ({ json }) {
  const { results, unreachable } = yield* Reachable.each(TreeAudit.audit())
  const rows = results.map(([cell, { differences, ...counts }]) => ({ cell, ...counts, differences }))
  yield* Output.print(
    json ? rows : rows.map(({ differences, ...row }) => ({ ...row, differences: differences.length })),
    { json, columns: ["cell", "leaves", "events", "without_data", "differences"] },
  )
  const wrong = rows.flatMap(({ differences }) => differences)
  const [first] = wrong
  const example = first === undefined ? "" : ` The first is ${first.event_id ?? "no event"}: ${first.problem}.`
  yield* end(wrong, `The log differs from the events in ${count(wrong, "place")}.${example}`, unreachable)
})

const count = (wrong: ReadonlyArray<unknown>, what: string): string =>
  `${wrong.length} ${what}${wrong.length === 1 ? "" : "s"}`

export const audit = DataCommand.group({
  webhooks: ["Check that every matching event has its webhook delivery", webhooks],
  emails: ["Check that every accepted recipient is final or in flight", emails],
  work: ["Check that the outbox has exactly the rows of pending work", work],
  log: ["Check that the signed log holds exactly the events", log],
}).with(Command.provide(CliStore.layer))
