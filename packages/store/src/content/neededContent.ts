import type { Fragment } from "effect/sql/Statement"
import * as PackedSql from "../packed/PackedSql.ts"
import type { Client } from "../postgres/Sql.ts"

/**
 * Selects the content of messages still to be delivered, which nothing may remove: bodies and attachments of `accounts`, a list
 * or a query in parentheses.
 */
export const neededContent = (sql: Client<unknown>, accounts: Fragment): Fragment => sql`
  SELECT o.account_id, decode(used.sha256, 'hex') AS sha256
  FROM outbox o JOIN events e ON e.account_id = o.account_id AND e.stream_id = o.stream_id AND e.version = 1
  CROSS JOIN LATERAL ${PackedSql.contentHashes(sql, "e")} AS used(sha256)
  WHERE o.kind = 'delivery' AND o.account_id IN ${accounts}`
