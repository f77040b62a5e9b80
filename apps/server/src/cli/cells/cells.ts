import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as CellList from "@waybill/store/operations/CellList"
import * as CellNodes from "@waybill/store/operations/CellNodes"
import * as CellStates from "@waybill/store/operations/CellStates"
import * as LostCell from "@waybill/store/operations/LostCell"
import { Effect, Option } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import { CommandRefused } from "../../process/CommandRefused.ts"
import * as CliStore from "../CliStore.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import { IsInteractive } from "../IsInteractive.ts"
import * as Output from "../Output.ts"
import * as CellFlags from "./CellFlags.ts"
import * as ServerCommands from "./ServerCommands.ts"
import * as MoveCommands from "./MoveCommands.ts"

const COLUMNS = ["name", "state", "accounts", "emails", "bytes", "lag", "per_second", "waiting", "node"]

const list = DataCommand.list({}, COLUMNS, function* () {
  const cells = yield* CellList.list()
  return cells
})

const add = DataCommand.record(
  {
    name: CellFlags.name,
    node: Flag.optional(MoveCommands.node),
    url: Flag.optional(ServerCommands.url),
  },
  function* ({ json, name, node, url }) {
    if (Option.isSome(node) && Option.isSome(url)) return yield* new CellSchema.CellRefused({ message: BOTH })
    if (Option.isSome(node)) yield* CellNodes.requireNode(node.value)
    const cell = yield* Option.isSome(url)
      ? ServerCell.make(name, yield* ServerCommands.readUrl(url.value))
      : CellSchema.make(name)
    if (Option.isSome(node)) yield* CellNodes.move(cell, node.value, MoveCommands.report(json))
    const made = (yield* CellList.list()).find((each) => each.name === cell)
    return { ...made }
  },
)

const BOTH = "a cell is on a node of Citus (--node) or on a server of its own (--url), not both"

const open = DataCommand.record({ name: CellFlags.name }, function* ({ name }) {
  const cell = yield* CellStates.requireCell(name)
  yield* CellStates.set(cell, "open")
  return { name: cell, state: "open" }
})

/** Removes a cell whose server is lost. A script confirms with `--yes`, since nobody answers there. */
const closeLost = Effect.fnUntraced(function* (name: string, isConfirmed: boolean) {
  const moves = yield* LostCell.examine(name)
  if (!isConfirmed && !(yield* IsInteractive))
    return yield* new CommandRefused({ message: "Removing a lost cell cannot be undone. Confirm with --yes." })
  const ended = moves === 0 ? "" : ` ${moves === 1 ? "1 move" : `${moves} moves`} of accounts to or from it will end.`
  const message = `Remove the lost cell ${name}?${ended} This cannot be undone.`
  if (!isConfirmed && !(yield* Prompt.run(Prompt.Confirm({ message, initial: false }))))
    return yield* new CommandRefused({ message: "Nothing was removed." })
  yield* LostCell.remove(name)
  return { name, state: "removed", moves_ended: moves }
})

const close = DataCommand.command(
  {
    name: CellFlags.name,
    drain: Options.isSet("drain", "Mark the cell as one that is being emptied"),
    lost: Options.isSet("lost", "Remove a cell without accounts whose server is lost for good"),
    yes: Options.isSet("yes", "Remove a lost cell without asking"),
  },
  function* ({ drain, json, lost, name, yes }) {
    if (lost) return yield* Output.printOne(yield* closeLost(name, yes), { json })
    const removed = { name, state: "removed" }
    if (yield* CellStates.dropLeftOver(name)) return yield* Output.printOne(removed, { json })
    const cell = yield* CellStates.requireCell(name)
    if (yield* CellStates.removeEmpty(cell)) return yield* Output.printOne(removed, { json })
    const state = drain ? "draining" : "full"
    yield* CellStates.set(cell, state)
    yield* Output.printOne({ name: cell, state }, { json })
  },
)

export const cells = DataCommand.group({
  list: ["List the cells, with what is in them and where they lie", list],
  add: ["Make a cell that takes new accounts from now on", add],
  open: ["Let a cell take new accounts again", open],
  close: ["Let a cell take no new accounts, and remove it if it is empty", close],
  address: ["Give a cell the address at which its database is now, such as a promoted standby", ServerCommands.address],
  check: [
    "Check that every cell answers, is the right database, has the tables of this release, and the accounts that home says",
    ServerCommands.check,
  ],
  move: ["Move a cell to another node of a Citus cluster, while it is in use", MoveCommands.move],
  balance: [
    "Show which accounts, or with Citus which cells, to move so that the load is even; --apply moves them",
    MoveCommands.balance,
  ],
}).with(Command.provide(CliStore.layer))
