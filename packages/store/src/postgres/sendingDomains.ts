import type { PgClient } from "@effect/sql-pg"
import * as DomainStatus from "@waybill/domain/domain/DomainStatus"

const STATUSES = DomainStatus.Status.literals.filter(DomainStatus.sends).map((status) => `'${status}'`)

/** Condition of the rows of `domains` that may send. */
export const sendingDomains = (sql: Pick<PgClient.PgClient, "literal">) =>
  sql.literal(`NOT removed AND status IN (${STATUSES.join(", ")})`)
