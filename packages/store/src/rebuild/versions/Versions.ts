import { Effect } from "effect"
import * as Iso from "../../postgres/Iso.ts"
import type { Sql } from "../../postgres/Sql.ts"

export type State = "building" | "ready" | "live" | "kept"

export interface Version {
  readonly name: string
  readonly version: number
  readonly state: State
  /** Position up to which the rows hold every event; meaningless for a live table. */
  readonly position: bigint
  readonly events: bigint
  readonly worked_ms: bigint
  readonly release: string
  readonly created_at: string
  readonly finished_at: string | null
}

/** Returns the table of a version. The live one has the read model's name; the others end with their number. */
export const tableOf = ({ name, state, version }: Pick<Version, "name" | "state" | "version">): string =>
  state === "live" ? name : `${name}_v${version}`

export const list = (sql: Sql, name: string) =>
  sql<Version>`
    SELECT name, version, state, position, events, worked_ms, release, ${Iso.iso(sql, "created_at")} AS created_at,
      ${Iso.iso(sql, "finished_at")} AS finished_at
    FROM projection_versions WHERE name = ${name} ORDER BY version`

/** Returns the newest version in a state. */
export const newest = (versions: ReadonlyArray<Version>, state: State): Version | undefined =>
  versions.findLast((each) => each.state === state)

/** Records the original table of a read model that was never rebuilt as its version 1. */
export const ensureLive = (sql: Sql, name: string) =>
  sql`
    INSERT INTO projection_versions (name, version, state, position, release, finished_at)
    VALUES (${name}, 1, 'live', 0, '', now()) ON CONFLICT DO NOTHING`

/** Begins a version and returns its number. Only the process with the lock of the read model may call this. */
export const begin = Effect.fnUntraced(function* (sql: Sql, name: string, position: bigint, release: string) {
  const [last] = yield* sql<{ readonly version: number }>`
    SELECT coalesce(max(version), 1) AS version FROM projection_versions WHERE name = ${name}`
  const version = (last?.version ?? 1) + 1
  yield* sql`
    INSERT INTO projection_versions (name, version, state, position, release)
    VALUES (${name}, ${version}::int, 'building', ${position}::bigint, ${release})`
  return version
})

type Key = Pick<Version, "name" | "version">

/** Marks a version as ready. Returns no row if it was dropped meanwhile. */
export const finish = (sql: Sql, { name, version }: Key) => sql`
  UPDATE projection_versions SET state = 'ready', finished_at = now() WHERE name = ${name} AND version = ${version}::int
  RETURNING version`

export const moveTo = (sql: Sql, { name, version }: Key, position: bigint, events = 0) => sql`
  UPDATE projection_versions SET position = ${position}::bigint, events = events + ${events}::bigint
  WHERE name = ${name} AND version = ${version}::int`

/** Returns the position of a version and locks it until the end of the transaction. */
export const lockPosition = (sql: Sql, { name, version }: Key) =>
  Effect.map(
    sql<{ readonly position: bigint }>`
      SELECT position FROM projection_versions WHERE name = ${name} AND version = ${version}::int FOR UPDATE`,
    ([row]) => row?.position ?? 0n,
  )

export const addWorkTime = (sql: Sql, { name, version }: Key, millis: number) =>
  sql`
    UPDATE projection_versions SET worked_ms = worked_ms + ${Math.round(millis)}::bigint
    WHERE name = ${name} AND version = ${version}::int`

export const remove = (sql: Sql, { name, version }: Key) => sql`
  DELETE FROM projection_versions WHERE name = ${name} AND version = ${version}::int RETURNING version`
