import { Command } from "effect/cli"
import { accounts } from "./commands/accounts.ts"
import { audit } from "./commands/audit.ts"
import { config } from "./commands/config.ts"
import { doctor } from "./commands/doctor.ts"
import { domains } from "./commands/domains.ts"
import { erase } from "./commands/erase.ts"
import { events } from "./commands/events.ts"
import { keys } from "./commands/keys.ts"
import { mcp } from "./commands/mcp.ts"
import { migrate } from "./commands/migrate.ts"
import * as ProjectionCommands from "./commands/ProjectionCommands.ts"
import { reports } from "./commands/reports.ts"
import { secrets } from "./commands/secrets.ts"
import { start } from "./start.ts"
import * as TopCommand from "./commands/TopCommand.ts"
import { users } from "./commands/users.ts"

export const waybill = Command.make("waybill").pipe(
  Command.withDescription("Self-hosted transactional email on Postgres, with a complete history of every message"),
  Command.withSubcommands([
    start,
    migrate,
    config,
    accounts,
    users,
    domains,
    keys,
    secrets,
    reports,
    audit,
    ProjectionCommands.projections,
    events,
    erase,
    doctor,
    mcp,
    TopCommand.top,
  ]),
)
