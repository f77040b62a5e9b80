import { Effect } from "effect"
import { HomeSql } from "../routing/HomeSql.ts"

/** Maximum number of saved views of a user. */
export const MAX_VIEWS = 50

export interface Owner {
  readonly account_id: string
  readonly user_id: string
}

export interface View {
  readonly name: string
  /** The text of the search box. */
  readonly search: string
}

export const list = Effect.fn("SavedViews.list")(function* ({ account_id, user_id }: Owner) {
  const sql = yield* HomeSql
  return yield* sql<View>`
    SELECT name, search FROM saved_views WHERE account_id = ${account_id} AND user_id = ${user_id}
    ORDER BY lower(name), name`
})

/** Saves a view, or replaces the one of this name. Returns whether there was room for it. */
export const save = Effect.fn("SavedViews.save")(function* ({ account_id, user_id }: Owner, { name, search }: View) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    INSERT INTO saved_views (account_id, user_id, name, search)
    SELECT ${account_id}, ${user_id}, ${name}, ${search}
    WHERE (SELECT count(*) FROM saved_views WHERE account_id = ${account_id} AND user_id = ${user_id} AND name <> ${name})
      < ${MAX_VIEWS}::int
    ON CONFLICT (account_id, user_id, name) DO UPDATE SET search = excluded.search
    RETURNING name`
  return rows.length > 0
})

/** Deletes a view. Returns whether there was one. */
export const remove = Effect.fn("SavedViews.remove")(function* ({ account_id, user_id }: Owner, name: string) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    DELETE FROM saved_views WHERE account_id = ${account_id} AND user_id = ${user_id} AND name = ${name}
    RETURNING name`
  return rows.length > 0
})
