import type { SqlClient } from "effect/sql"

/** A timestamptz as the ISO string that the API and the events speak, so that no `Date` ever stands between. */
export const iso = (sql: SqlClient.SqlClient, column: string) =>
  sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
