import { Command } from "effect/cli"
import { mcp } from "../cli/remote/mcp.ts"
import { auditLog } from "../cli/remote/history/auditLog.ts"
import { domains } from "../cli/remote/domains.ts"
import { emails } from "../cli/remote/emails/emails.ts"
import { inbound } from "../cli/remote/inbound.ts"
import { listen } from "../cli/remote/live/listen.ts"
import { logs } from "../cli/remote/live/logs.ts"
import { trigger } from "../cli/remote/live/trigger.ts"
import * as DataCommand from "../cli/DataCommand.ts"
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
  ...DataCommand.named({
    login: ["Store the address of an instance and an API key, after checking them", LoginCommands.login],
    logout: ["Remove the stored address and key; the key itself keeps working", LoginCommands.logout],
    whoami: ["Show the account and the permissions of the key that commands use", LoginCommands.whoami],
    profiles: ["Instances and keys that `login --profile` stored", profiles],
    send: ["Send an email", send],
    emails: ["Emails that were accepted", emails],
    receipt: ["Print what happened to an email with a proof that anybody can check", receipt],
    logs: ["Search emails, newest first, or follow what happens to them", logs],
    stats: ["Count emails by recipient and outcome, of the last 7 days by default", stats],
    domains: ["Domains that mail is sent from", domains],
    webhooks: ["Webhooks of the account", webhooks],
    suppressions: ["Addresses that no longer receive mail", suppressions],
    requests: ["API requests, also refused ones", requests],
    "audit-log": ["Changes to keys, domains, webhooks, members and more", auditLog],
    inbound: ["Mail that came in for your domains", inbound],
    templates: ["Templates of the account, and folders of them", templates],
    listen: ["Forward webhooks to a program on this machine, without a public address", listen],
    trigger: ["Cause an event, to develop a webhook endpoint against", trigger],
  }),
  mcp,
]

/** Flags of all of these commands. */
export const globalFlags = [OutputStyle.Wide, Credentials.ProfileFlag] as const

/** The command line without the commands that need the code of the service. */
export const remote = Command.make("waybill").pipe(
  Command.withSubcommands(commands),
  Command.withGlobalFlags(globalFlags),
)
