import { Command } from "effect/cli"
import * as CliStore from "../CliStore.ts"
import * as AddressCommands from "./AddressCommands.ts"
import * as PlanCommands from "./PlanCommands.ts"
import * as PoolCommands from "./PoolCommands.ts"

const { add, change, check, list, pause, remove, resume } = AddressCommands
const { assign, assignments, pools, unassign } = PoolCommands

export const ips = Command.make("ips").pipe(
  Command.withDescription("Addresses that direct delivery sends from, their pools and warm-up"),
  Command.withSubcommands([
    add,
    list,
    change,
    remove,
    pause,
    resume,
    check,
    pools,
    assign,
    unassign,
    assignments,
    PlanCommands.plans,
  ]),
  Command.provide(CliStore.layer),
)
