import { Command } from "effect/cli"
import * as CliStore from "../CliStore.ts"
import * as AddressCommands from "./AddressCommands.ts"
import * as PlanCommands from "./PlanCommands.ts"
import * as PoolCommands from "./PoolCommands.ts"
import * as DataCommand from "../DataCommand.ts"

const { add, change, check, list, pause, remove, resume } = AddressCommands
const { assign, assignments, pools, unassign } = PoolCommands

export const ips = DataCommand.group({
  add: ["Add an address of a worker host, from which mail is sent within 10 seconds", add],
  list: ["List the addresses with their plan, mails of today, pauses and checks", list],
  change: ["Change the pool, the name or the warm-up of an address", change],
  remove: ["Remove an address; its pool stays", remove],
  pause: ["Send nothing from an address until it is resumed", pause],
  resume: ["End the pauses of an address, also those after a block", resume],
  check: ["Check PTR records, names and blocklists of all addresses now", check],
  pools: ["Groups of source addresses", pools],
  assign: ["Send the mail of a domain, or of an account, from the addresses of a pool only", assign],
  unassign: ["Send the mail of a domain or account as all other mail", unassign],
  assignments: ["List the accounts and domains with a pool of their own", assignments],
  plans: ["Warm-up plans: mails per day and provider from a new address", PlanCommands.plans],
}).with(Command.provide(CliStore.layer))
