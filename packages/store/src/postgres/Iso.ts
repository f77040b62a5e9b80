import type { Client } from "./Sql.ts"

/** Formats a timestamptz as the ISO string of the API and the events, so that no `Date` is made of it. */
export const iso = (sql: Client<unknown>, column: string) =>
  sql.literal(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)
