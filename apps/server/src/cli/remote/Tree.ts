import { Command } from "effect/cli"
import { mcp } from "../commands/mcp.ts"
import { domains } from "./DomainCommands.ts"
import { emails } from "./EmailCommands.ts"
import { listen } from "./live/listen.ts"
import { logs } from "./live/LogCommands.ts"
import { trigger } from "./live/trigger.ts"
import * as LoginCommands from "./LoginCommands.ts"
import { send } from "./send.ts"
import { suppressions } from "./SuppressionCommands.ts"
import { webhooks } from "./WebhookCommands.ts"

/** Commands over the HTTP API, which need a key and no database. */
export const commands = [
  LoginCommands.login,
  LoginCommands.logout,
  LoginCommands.whoami,
  send,
  emails,
  logs,
  domains,
  webhooks,
  suppressions,
  listen,
  trigger,
  mcp,
] as const

/** The command line without the commands that need the code of the service. */
export const remote = Command.make("waybill").pipe(Command.withSubcommands(commands))
