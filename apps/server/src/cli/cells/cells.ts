import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as CellList from "@waybill/store/operations/CellList"
import * as CellNodes from "@waybill/store/operations/CellNodes"
import * as CellStates from "@waybill/store/operations/CellStates"
import { Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as CliStore from "../CliStore.ts"
import * as Options from "../Options.ts"
import * as DataCommand from "../DataCommand.ts"
import * as Output from "../Output.ts"
import * as CellFlags from "./CellFlags.ts"
import * as ServerCommands from "./ServerCommands.ts"
import * as MoveCommands from "./MoveCommands.ts"

const COLUMNS = ["name", "state", "accounts", "emails", "bytes", "lag", "per_second", "waiting", "node"]

const list = DataCommand.list(
  "list",
  "List the cells, with what is in them and where they lie",
  {},
  COLUMNS,
  function* () {
    const cells = yield* CellList.list()
    return cells
  },
)

const add = DataCommand.record(
  "add",
  "Make a cell that takes new accounts from now on",
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

const open = DataCommand.record(
  "open",
  "Let a cell take new accounts again",
  { name: CellFlags.name },
  function* ({ name }) {
    const cell = yield* CellStates.requireCell(name)
    yield* CellStates.set(cell, "open")
    return { name: cell, state: "open" }
  },
)

const close = DataCommand.command(
  "close",
  "Let a cell take no new accounts, and remove it if it is empty",
  {
    name: CellFlags.name,
    drain: Options.isSet("drain", "Mark the cell as one that is being emptied"),
  },
  function* ({ drain, json, name }) {
    const removed = { name, state: "removed" }
    if (yield* CellStates.dropLeftOver(name)) return yield* Output.printOne(removed, { json })
    const cell = yield* CellStates.requireCell(name)
    if (yield* CellStates.removeEmpty(cell)) return yield* Output.printOne(removed, { json })
    const state = drain ? "draining" : "full"
    yield* CellStates.set(cell, state)
    yield* Output.printOne({ name: cell, state }, { json })
  },
)

export const cells = Command.make("cells").pipe(
  Command.withDescription("Manage the cells, which hold the tables of accounts"),
  Command.withSubcommands([
    list,
    add,
    open,
    close,
    ServerCommands.address,
    ServerCommands.check,
    MoveCommands.move,
    MoveCommands.balance,
  ]),
  Command.provide(CliStore.layer),
)
