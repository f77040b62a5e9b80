import * as Text from "@waybill/domain/values/Text"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as CellBalance from "@waybill/store/operations/CellBalance"
import { Sql } from "@waybill/store/postgres/Sql"
import { FIRST } from "@waybill/store/routing/CellName"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as CellNodes from "@waybill/store/operations/CellNodes"
import * as CellStates from "@waybill/store/operations/CellStates"
import { Effect, Result, Schema } from "effect"
import { Flag } from "effect/cli"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CellFlags from "./CellFlags.ts"

const POSTGRES_PORT = 5432

const parseNode = (text: string) => {
  const url = URL.parse(`postgres://${text}`)
  if (url === null || url.hostname === "" || url.username !== "" || url.pathname !== "" || url.search !== "")
    return Result.fail("is not a server such as node1.internal:5432")
  return Result.succeed({
    host: url.hostname.replace(/^\[|\]$/gu, ""),
    port: url.port === "" ? POSTGRES_PORT : Number(url.port),
  })
}

const Node = Text.parsed(
  Schema.Struct({ host: Schema.String, port: Schema.Int }),
  { description: "A node of a Citus cluster", examples: ["node1.internal:5432"] },
  parseNode,
  CellNodes.textOf,
)

export const node = Flag.String("node").pipe(
  Flag.withSchema(Node),
  Flag.withDescription("Node of the Citus cluster, as HOST:PORT"),
)

const MEGABYTE = 1024 * 1024

const lineOf = ({ copied_bytes, status, total_bytes }: CellNodes.Progress): string => {
  const [copied, total] = [copied_bytes, total_bytes].map((bytes) => `${Math.round(bytes / MEGABYTE)} MB`)
  return `${copied} of ${total} copied${status === "" ? "" : `, ${status.toLowerCase()}`}`
}

/** Prints a line for each report as JSON, and otherwise one line that is overwritten. */
export const report =
  (json: boolean): CellNodes.Report =>
  (progress) =>
    json ? Output.printJson(progress) : Output.progress(lineOf(progress), false)

export const move = DataCommand.command({ name: CellFlags.name, node }, function* ({ json, name, node }) {
  const cell = yield* CellStates.requireCell(name)
  const moved = yield* CellNodes.move(cell, node, report(json))
  if (json) return yield* Output.printJson({ name, node: CellNodes.textOf(node), moved })
  yield* Output.say(`The cell ${name} ${moved ? "is now" : "was already"} on ${CellNodes.textOf(node)}.`)
})

const overNodes = Effect.fnUntraced(function* (isApplied: boolean, json: boolean) {
  if (!isApplied) {
    const planned = yield* CellNodes.plan()
    yield* Output.print(
      planned.map(({ cell, from, ...to }) => ({ cell, from, to: CellNodes.textOf(to) })),
      { json, columns: ["cell", "from", "to"] },
    )
    return
  }
  const moved = yield* CellNodes.balance(report(json))
  if (json) return yield* Output.printJson({ moved })
  yield* Output.say(moved ? "The cells are balanced over the nodes." : "The cells were balanced already.")
})

const overAccounts = Effect.fnUntraced(function* (isApplied: boolean, json: boolean) {
  const moves = yield* CellBalance.proposal()
  if (moves.length === 0 && !json) return yield* Output.say("The cells have about as much mail each.")
  yield* Output.print(
    moves.map(({ account_id, cell, mails, to }) => ({ account: account_id, mails, from: cell, to })),
    { json, columns: ["account", "mails", "from", "to"] },
  )
  if (!isApplied) return
  for (const { account_id, to } of moves) {
    const { from } = yield* AccountMove.move(account_id, to)
    if (!json) yield* Output.say(`${account_id} moved from ${from} to ${to}.`)
  }
})

export const balance = DataCommand.command(
  { apply: Options.isSet("apply", "Make the moves, while the cells are in use") },
  function* ({ apply, json }) {
    const sql = yield* Sql
    yield* (yield* inCell(FIRST, CellSchema.isCitus(sql))) ? overNodes(apply, json) : overAccounts(apply, json)
  },
)
