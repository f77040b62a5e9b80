import { PgTypes } from "@effect/sql-pg"
import { Effect } from "effect"
import { HomeSql } from "../routing/HomeSql.ts"

/** Maximum number of plans of an operator. */
export const MAX_PLANS = 50

export interface StoredPlan {
  readonly name: string
  /** Decoded when it was stored. */
  readonly plan: unknown
}

export const list = Effect.fn("WarmUpPlans.list")(function* () {
  const sql = yield* HomeSql
  return yield* sql<StoredPlan & { readonly addresses: number }>`
    SELECT name, plan, (SELECT count(*) FROM source_addresses a WHERE a.plan = p.name)::int AS addresses
    FROM warm_up_plans p ORDER BY name`
})

/** Stores a plan, also over one with the same name. Returns whether there was room for it. */
export const put = Effect.fn("WarmUpPlans.put")(function* (name: string, plan: object) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    INSERT INTO warm_up_plans (name, plan) SELECT ${name}, ${PgTypes.jsonb(plan)}
    WHERE (SELECT count(*) FROM warm_up_plans WHERE name <> ${name}) < ${MAX_PLANS}::int
    ON CONFLICT (name) DO UPDATE SET plan = excluded.plan RETURNING name`
  return rows.length > 0
})

/** Removes a plan. Returns false if there is none, or an address uses it. */
export const remove = Effect.fn("WarmUpPlans.remove")(function* (name: string) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM warm_up_plans WHERE name = ${name}
      AND NOT EXISTS (SELECT 1 FROM source_addresses a WHERE a.plan = ${name}) RETURNING name`
  return rows.length > 0
})
