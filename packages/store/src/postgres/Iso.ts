import type { SqlClient } from "effect/sql"

/** Formats a timestamptz as the ISO string of the API and the events, so that no `Date` is made of it. */
export const iso = (sql: SqlClient.SqlClient, column: string) =>
  sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
