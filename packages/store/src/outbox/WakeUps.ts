import { Effect, Predicate } from "effect"
import type { Fragment } from "effect/sql/Statement"
import * as Databases from "../routing/Databases.ts"
import type { OutboxRow } from "./OutboxRow.ts"
import type { Client } from "../postgres/Sql.ts"

type Kind = OutboxRow["kind"]

/** The graphile-worker task of each kind of work. */
const TASKS = {
  delivery: "drain_deliveries",
  webhook: "drain_webhooks",
  domain_check: "check_domains",
  test_clock: "advance_test_clocks",
} as const satisfies Record<Kind, string>

/** Wakes workers for rows of the fiber's database. */
export const wake = <E>(sql: Client<E>, kinds: ReadonlyArray<Kind>) =>
  Effect.flatMap(Databases.schema, (schema) => sql`${jobs(sql, kinds, schema)}`)

/** Returns the kinds of which a row is due now. */
export const due = (armed: ReadonlyArray<OutboxRow>, now: string): ReadonlyArray<Kind> => [
  ...new Set(armed.filter((row) => row.available_at <= now).map((row) => row.kind)),
]

/**
 * Adds one job per kind, however many rows there are, because Postgres serializes commits that notify. Jobs for the first
 * database of a server do not name it. They have no key: a commit that finds the job of another one by its key waits for the end of that commit.
 */
export const jobs = <E>(sql: Client<E>, kinds: ReadonlyArray<Kind>, schema: string): Fragment => {
  const payload = schema === Databases.home.name ? {} : { cell: schema }
  const specs = kinds.map((kind) => ({ identifier: TASKS[kind], payload }))
  return sql`
  SELECT 1 AS woken FROM graphile_worker.add_jobs(ARRAY(
    SELECT spec FROM json_populate_recordset(NULL::graphile_worker.job_spec, ${JSON.stringify(specs)}::json) AS spec)) AS job`
}

/** Returns the database that a wake-up names; undefined for the first one of its server. */
export const databaseIn = (payload: unknown): string | undefined =>
  Predicate.hasProperty(payload, "cell") && typeof payload.cell === "string" ? payload.cell : undefined
