import { Command } from "effect/cli"
import * as BackupCommands from "../cli/commands/BackupCommands.ts"
import * as DataCommand from "../cli/DataCommand.ts"
import { cells } from "../cli/cells/cells.ts"
import { accounts } from "../cli/commands/accounts.ts"
import { audit } from "../cli/commands/audit.ts"
import { config } from "../cli/commands/config.ts"
import { doctor } from "../cli/commands/doctor.ts"
import { erase } from "../cli/commands/erase.ts"
import { events } from "../cli/commands/events.ts"
import { keys } from "../cli/commands/keys.ts"
import { migrate } from "../cli/commands/migrate.ts"
import * as ProjectionCommands from "../cli/commands/ProjectionCommands.ts"
import { reports } from "../cli/commands/reports.ts"
import { secrets } from "../cli/commands/secrets.ts"
import { ips } from "../cli/ips/ips.ts"
import { log } from "../cli/log/log.ts"
import { providers } from "../cli/providers.ts"
import { start } from "./start.ts"
import { temporary } from "./temporary/temporary.ts"
import * as TopCommand from "../cli/commands/TopCommand.ts"
import { users } from "../cli/commands/users.ts"
import { witness } from "../cli/log/witness.ts"
import * as Remote from "./Tree.ts"

export const waybill = Command.make("waybill").pipe(
  Command.withDescription("Self-hosted transactional email on Postgres, with a complete history of every message"),
  Command.withSubcommands([
    { group: "Send and follow mail, over the HTTP API of an instance", commands: Remote.commands },
    {
      group: "Run this instance, with its settings",
      commands: [
        start,
        temporary,
        ...DataCommand.named({
          migrate: ["Bring the database's schema up to date", migrate],
          backup: [
            "Write the database to a file, as it is at one moment, while the service runs",
            BackupCommands.backup,
          ],
          restore: ["Restore a backup into an empty database, or check the file", BackupCommands.restore],
          config: ["Show the settings that are set, all, or one, and check them", config],
          doctor: ["Check database, DNS, disk and relay, and suggest fixes", doctor],
        }),
      ],
    },
    {
      group: "Operate this instance, in its database",
      commands: DataCommand.named({
        accounts: ["Manage accounts, their plans and limits", accounts],
        cells: ["Manage the cells, which hold the tables of accounts", cells],
        users: ["Manage users of the dashboard", users],
        keys: ["API keys", keys],
        secrets: ["Manage the sealed secrets in the database", secrets],
        providers: ["Mail providers that report what became of the mail they were handed", providers],
        ips: ["Addresses that direct delivery sends from, their pools and warm-up", ips],
        reports: ["Unread reports: bounces and complaints whose parsing was ended", reports],
        audit: [
          "Check that deliveries, recipients and the outbox match the log. Who changed what is in `waybill audit-log`",
          audit,
        ],
        log: ["The signed log that receipts are proved by", log],
        projections: ["Rebuild and verify read models", ProjectionCommands.projections],
        events: ["Show, follow, export and import the event log", events],
        erase: ["Erase an address from the log, read models and contents permanently", erase],
        top: ["Watch rates, queue, projections and connections", TopCommand.top],
      }),
    },
    {
      group: "Watch the logs of other instances",
      commands: DataCommand.named({
        witness: ["Follow the logs of other instances, and sign that they show one history", witness],
      }),
    },
  ]),
  Command.withGlobalFlags(Remote.globalFlags),
)
