import { Command } from "effect/cli"
import * as BackupCommands from "../cli/commands/BackupCommands.ts"
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
      commands: [start, temporary, migrate, BackupCommands.backup, BackupCommands.restore, config, doctor],
    },
    {
      group: "Operate this instance, in its database",
      commands: [
        accounts,
        cells,
        users,
        keys,
        secrets,
        providers,
        ips,
        reports,
        audit,
        log,
        ProjectionCommands.projections,
        events,
        erase,
        TopCommand.top,
      ],
    },
    { group: "Watch the logs of other instances", commands: [witness] },
  ]),
  Command.withGlobalFlags(Remote.globalFlags),
)
