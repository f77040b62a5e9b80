import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import { Effect } from "effect"
import * as AccountWrites from "../locks/AccountWrites.ts"
import { Sql } from "../postgres/Sql.ts"

/** Days for which the ids of providers are kept: as long as a complaint may take. */
export const KEPT_DAYS = 45

export interface HandedOver {
  readonly account_id: AccountId
  readonly email_id: EmailId
}

/** Keeps the ids by which a provider names a message. */
export const keep = Effect.fn("ProviderMessages.keep")(function* (
  refs: ReadonlyArray<string>,
  { account_id, email_id }: HandedOver,
) {
  const sql = yield* Sql
  const keeping = sql`
    INSERT INTO provider_messages (ref, account_id, email_id)
    SELECT DISTINCT ref, ${account_id}, ${email_id} FROM unnest(${refs}::text[]) AS r(ref)
    ON CONFLICT (ref) DO UPDATE SET account_id = excluded.account_id, email_id = excluded.email_id`
  yield* AccountWrites.run(account_id, keeping)
})

/**
 * Notes that a visit which a hook reported is recorded, beside the ids of the message, which have no spaces. Returns false if it was
 * noted before.
 */
export const noteVisit = Effect.fn("ProviderMessages.noteVisit")(function* (
  hook_id: string,
  id: string,
  { account_id, email_id }: HandedOver,
) {
  const sql = yield* Sql
  const noting = sql`
    INSERT INTO provider_messages (ref, account_id, email_id)
    VALUES (${` visit ${hook_id} ${id}`}, ${account_id}, ${email_id})
    ON CONFLICT (ref) DO NOTHING RETURNING ref`
  return (yield* AccountWrites.run(account_id, noting)).length > 0
})

/** Finds the messages that a provider names, in the fiber's database. */
export const find = Effect.fn("ProviderMessages.find")(function* (refs: ReadonlyArray<string>) {
  const sql = yield* Sql
  return yield* sql<HandedOver & { readonly ref: string }>`
    SELECT ref, account_id, email_id FROM provider_messages WHERE ref = ANY(${refs}::text[])`
})

/** Those of the ids that name a message of the fiber's database. */
export const known = Effect.fn("ProviderMessages.known")(function* (refs: ReadonlyArray<string>) {
  const sql = yield* Sql
  const rows = yield* sql<{ readonly ref: string }>`
    SELECT ref FROM provider_messages WHERE ref = ANY(${refs}::text[])`
  return rows.map(({ ref }) => ref)
})

/** Removes old ids and returns how many. Runs periodically. */
export const expire = Effect.fn("ProviderMessages.expire")(function* () {
  const sql = yield* Sql
  const rows = yield* sql`
    DELETE FROM provider_messages WHERE created_at < now() - make_interval(days => ${KEPT_DAYS}::int) RETURNING ref`
  return rows.length
})
