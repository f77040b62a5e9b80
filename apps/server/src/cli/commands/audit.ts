import type { CellName } from "@waybill/store/routing/CellName"
import * as ReachableCells from "@waybill/store/routing/ReachableCells"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as TreeAudit from "@waybill/store/transparency/TreeAudit"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { CheckDiffers } from "../../process/CommandRefused.ts"
import * as CellsLeftOut from "../cells/CellsLeftOut.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CliStore from "../CliStore.ts"

/** Fails if something is wrong, or else if cells could not be checked. */
const end = (wrong: ReadonlyArray<unknown>, message: string, unreachable: ReadonlyArray<CellName>) =>
  wrong.length === 0
    ? CellsLeftOut.refuse(unreachable)
    : Effect.fail(new CheckDiffers({ message: CellsLeftOut.after(message, unreachable) }))

const webhooks = DataCommand.command(
  "webhooks",
  "Check that every matching event has its webhook delivery",
  {},
  function* ({ json }) {
    const { rows: balances, unreachable } = yield* ReachableCells.rowsOf(Conservation.webhooks())
    yield* Output.print(balances, {
      json,
      columns: ["account_id", "webhook_id", "events", "deliveries", "missing", "mismatched"],
    })
    const wrong = balances.filter(
      ({ deliveries, events, mismatched }) => deliveries !== events || mismatched.length > 0,
    )
    yield* end(wrong, `Deliveries of ${count(wrong, "webhook")} do not match the log.`, unreachable)
  },
)

const emails = DataCommand.command(
  "emails",
  "Check that every accepted recipient is final or in flight",
  {},
  function* ({ json }) {
    const { rows: balances, unreachable } = yield* ReachableCells.rowsOf(Conservation.emails())
    yield* Output.print(balances, {
      json,
      columns: ["account_id", "day", "accepted", "final", "in_flight", "mismatched"],
    })
    const wrong = balances.filter((each) => each.accepted !== each.final + each.in_flight || each.mismatched > 0)
    yield* end(wrong, `Recipients of ${count(wrong, "day")} do not match the log.`, unreachable)
  },
)

const work = DataCommand.command(
  "work",
  "Check that the outbox has exactly the rows of pending work",
  {},
  function* ({ json }) {
    const { rows, unreachable } = yield* ReachableCells.rowsOf(Conservation.work())
    const balances = Conservation.totalWork(rows)
    yield* Output.print(balances, { json, columns: ["kind", "waiting", "missing", "unexpected"] })
    const wrong = balances.filter(({ missing, unexpected }) => missing.length > 0 || unexpected.length > 0)
    yield* end(wrong, `The outbox does not match the log in ${count(wrong, "kind")} of work.`, unreachable)
  },
)

const log = DataCommand.command("log", "Check that the signed log holds exactly the events", {}, function* ({ json }) {
  const { results, unreachable } = yield* ReachableCells.each(TreeAudit.audit())
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

export const audit = Command.make("audit").pipe(
  Command.withDescription("Check that deliveries, recipients and the outbox match the log"),
  Command.withSubcommands([webhooks, emails, work, log]),
  Command.provide(CliStore.layer),
)
