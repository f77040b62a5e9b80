import { Command } from "effect/cli"
import { mcp } from "../cli/remote/mcp.ts"
import { auditLog } from "../cli/remote/history/auditLog.ts"
import { domains } from "../cli/remote/domains.ts"
import { emails } from "../cli/remote/emails/emails.ts"
import { inbound } from "../cli/remote/inbound.ts"
import { listen } from "../cli/remote/live/listen.ts"
import { logs } from "../cli/remote/live/logs.ts"
import { trigger } from "../cli/remote/live/trigger.ts"
import * as OutputStyle from "../cli/OutputStyle.ts"
import * as Credentials from "../cli/remote/Credentials.ts"
import * as LoginCommands from "../cli/remote/LoginCommands.ts"
import { profiles } from "../cli/remote/profiles.ts"
import { receipt } from "../cli/remote/history/receipt.ts"
import { requests } from "../cli/remote/history/requests.ts"
import { stats } from "../cli/remote/history/stats.ts"
import { send } from "../cli/remote/emails/send.ts"
import { suppressions } from "../cli/remote/suppressions.ts"
import { templates } from "../cli/remote/templates/templates.ts"
import { webhooks } from "../cli/remote/webhooks.ts"

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
  stats,
  domains,
  webhooks,
  suppressions,
  requests,
  auditLog,
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
