import { Command } from "effect/cli"
import { accounts } from "./accounts.ts"
import { audit } from "./audit.ts"
import { config } from "./config.ts"
import { doctor } from "./doctor.ts"
import { domains } from "./domains.ts"
import { erase } from "./erase.ts"
import { events } from "./events.ts"
import { keys } from "./keys.ts"
import { migrate } from "./migrate.ts"
import { projections } from "./projections.ts"
import { reports } from "./reports.ts"
import { secrets } from "./secrets.ts"
import { start } from "./start.ts"
import { top } from "./top.ts"
import { users } from "./users.ts"

export const waybill = Command.make("waybill").pipe(
  Command.withDescription("Transactional email whose truth is an event log on Postgres"),
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
    projections,
    events,
    erase,
    doctor,
    top,
  ]),
)
