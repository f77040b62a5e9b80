import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as CellList from "@waybill/store/operations/CellList"
import * as CellNodes from "@waybill/store/operations/CellNodes"
import * as CellStates from "@waybill/store/operations/CellStates"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import * as CliStore from "../CliStore.ts"
import * as Output from "../Output.ts"
import * as CellFlags from "./CellFlags.ts"
import * as ServerCommands from "./ServerCommands.ts"
import * as MoveCommands from "./MoveCommands.ts"

const COLUMNS = ["name", "state", "accounts", "emails", "bytes", "lag", "per_second", "waiting", "node"]

const list = Command.make(
  "list",
  { json: Output.json },
  Effect.fn(function* ({ json }) {
    const cells = yield* CellList.list()
    yield* Output.print(
      cells.map((cell) => ({ ...cell })),
      { json, columns: COLUMNS },
    )
  }),
).pipe(Command.withDescription("List the cells, with what is in them and where they lie"))

const add = Command.make(
  "add",
  {
    name: CellFlags.name,
    node: Flag.optional(MoveCommands.node),
    url: Flag.optional(ServerCommands.url),
    json: Output.json,
  },
  Effect.fn(function* ({ json, name, node, url }) {
    if (Option.isSome(node) && Option.isSome(url)) return yield* new CellSchema.CellRefused({ message: BOTH })
    if (Option.isSome(node)) yield* CellNodes.requireNode(node.value)
    const cell = yield* Option.isSome(url)
      ? ServerCell.make(name, yield* ServerCommands.readUrl(url.value))
      : CellSchema.make(name)
    if (Option.isSome(node)) yield* CellNodes.move(cell, node.value, MoveCommands.report(json))
    const made = (yield* CellList.list()).find((each) => each.name === cell)
    yield* Output.printOne({ ...made }, { json })
  }),
).pipe(Command.withDescription("Make a cell that takes new accounts from now on"))

const BOTH = "a cell is on a node of Citus (--node) or on a server of its own (--url), not both"

const open = Command.make(
  "open",
  { name: CellFlags.name, json: Output.json },
  Effect.fn(function* ({ json, name }) {
    const cell = yield* CellStates.requireCell(name)
    yield* CellStates.set(cell, "open")
    yield* Output.printOne({ name: cell, state: "open" }, { json })
  }),
).pipe(Command.withDescription("Let a cell take new accounts again"))

const close = Command.make(
  "close",
  {
    name: CellFlags.name,
    drain: Flag.Boolean("drain").pipe(
      Flag.withDescription("Mark the cell as one that is being emptied"),
      Flag.withDefault(false),
    ),
    json: Output.json,
  },
  Effect.fn(function* ({ drain, json, name }) {
    const removed = { name, state: "removed" }
    if (yield* CellStates.dropLeftOver(name)) return yield* Output.printOne(removed, { json })
    const cell = yield* CellStates.requireCell(name)
    if (yield* CellStates.removeEmpty(cell)) return yield* Output.printOne(removed, { json })
    const state = drain ? "draining" : "full"
    yield* CellStates.set(cell, state)
    yield* Output.printOne({ name: cell, state }, { json })
  }),
).pipe(Command.withDescription("Let a cell take no new accounts, and remove it if it is empty"))

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
