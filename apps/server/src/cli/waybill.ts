import { Command } from "effect/cli"
import { cells } from "./cells/cells.ts"
import { accounts } from "./commands/accounts.ts"
import { audit } from "./commands/audit.ts"
import { config } from "./commands/config.ts"
import { doctor } from "./commands/doctor.ts"
import { erase } from "./commands/erase.ts"
import { events } from "./commands/events.ts"
import { keys } from "./commands/keys.ts"
import { migrate } from "./commands/migrate.ts"
import * as ProjectionCommands from "./commands/ProjectionCommands.ts"
import { reports } from "./commands/reports.ts"
import { secrets } from "./commands/secrets.ts"
import { ips } from "./ips/ips.ts"
import { providers } from "./providers.ts"
import { start } from "./start.ts"
import { temporary } from "./temporary/temporary.ts"
import * as TopCommand from "./commands/TopCommand.ts"
import { users } from "./commands/users.ts"
import * as Remote from "./remote/Tree.ts"

export const waybill = Command.make("waybill").pipe(
  Command.withDescription("Self-hosted transactional email on Postgres, with a complete history of every message"),
  Command.withSubcommands([
    { group: "Send and follow mail, over the HTTP API of an instance", commands: Remote.commands },
    { group: "Run this instance, with its settings", commands: [start, temporary, migrate, config, doctor] },
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
        ProjectionCommands.projections,
        events,
        erase,
        TopCommand.top,
      ],
    },
  ]),
)
