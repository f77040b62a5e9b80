import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { ORPHAN_AFTER } from "./Secrets.ts"

/** Whoever was about to sign with it has done so long before; and there is time to notice a record that was wrong. */
export const RETIRED_DAYS = 7

/**
 * For cron: a private key that its domain no longer names, since it was replaced or removed or its domain was, will sign
 * nothing any more, and expires. Of a key it is the public half that the log holds, and all that whoever verifies mail
 * needs. One that is named after all is kept.
 */
export const retire = Effect.fn("DomainKeys.retire")(function* () {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(sql`
    UPDATE secrets s
    SET expires_at = CASE WHEN key.is_named THEN NULL ELSE now() + make_interval(days => ${RETIRED_DAYS}::int) END
    FROM (
      SELECT k.account_id, k.id, k.purpose, coalesce(jsonb_path_exists(d.record, '$.**.key_ref ? (@ == $purpose)',
        jsonb_build_object('purpose', k.purpose)), false) AS is_named
      FROM secrets k JOIN domains d ON d.account_id = k.account_id AND d.id = k.id
      -- The commit that names it comes after it.
      WHERE k.purpose LIKE 'dkim:%' AND k.created_at < now() - ${ORPHAN_AFTER}::interval) AS key
    WHERE s.account_id = key.account_id AND s.id = key.id AND s.purpose = key.purpose
      AND key.is_named = (s.expires_at IS NOT NULL)`)
})
