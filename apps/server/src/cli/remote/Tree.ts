import { Command } from "effect/cli"
import { mcp } from "../commands/mcp.ts"
import { domains } from "./domains.ts"
import { emails } from "./emails/emails.ts"
import { inbound } from "./inbound.ts"
import { listen } from "./live/listen.ts"
import { logs } from "./live/logs.ts"
import { trigger } from "./live/trigger.ts"
import * as OutputStyle from "../OutputStyle.ts"
import * as Credentials from "./Credentials.ts"
import * as LoginCommands from "./LoginCommands.ts"
import { profiles } from "./profiles.ts"
import { receipt } from "./receipt.ts"
import { send } from "./send.ts"
import { suppressions } from "./suppressions.ts"
import { templates } from "./templates/templates.ts"
import { webhooks } from "./webhooks.ts"

/** Commands over the HTTP API, which need a key and no database. */
export const commands = [
  LoginCommands.login,
  LoginCommands.logout,
  LoginCommands.whoami,
  profiles,
  send,
  emails,
  receipt,
  logs,
  domains,
  webhooks,
  suppressions,
  inbound,
  templates,
  listen,
  trigger,
  mcp,
] as const

/** Flags of all of these commands. */
export const globalFlags = [OutputStyle.Wide, Credentials.ProfileFlag] as const

/** The command line without the commands that need the code of the service. */
export const remote = Command.make("waybill").pipe(
  Command.withSubcommands(commands),
  Command.withGlobalFlags(globalFlags),
)
