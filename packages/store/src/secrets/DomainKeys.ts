import { Effect } from "effect"
import { ORPHAN_AFTER } from "./Secrets.ts"
import { Sql } from "../postgres/Sql.ts"

/**
 * Days until a key that its domain no longer names is deleted: long enough for mail about to be signed, and to notice a
 * wrong DNS record.
 */
export const RETIRED_DAYS = 7

/**
 * Expires private keys that their domain no longer names, because the key was replaced or removed or the domain was.
 * Verifying old mail needs only the public key, which is in the log. A key that is named again stays. Runs daily.
 */
export const retire = Effect.fn("DomainKeys.retire")(function* () {
  const sql = yield* Sql
  yield* sql`
    WITH key AS MATERIALIZED (
      SELECT k.account_id, k.id, k.purpose, coalesce(jsonb_path_exists(d.record, '$.**.key_ref ? (@ == $purpose)',
        jsonb_build_object('purpose', k.purpose)), false) AS is_named
      FROM secrets k JOIN domains d ON d.account_id = k.account_id AND d.id = k.id
      -- The commit that names a key follows after the key is sealed.
      WHERE k.purpose LIKE 'dkim:%' AND k.created_at < now() - ${ORPHAN_AFTER}::interval
    ), retired AS (SELECT now() + make_interval(days => ${RETIRED_DAYS}::int) AS at)
    UPDATE secrets s SET expires_at = CASE WHEN key.is_named THEN NULL ELSE retired.at END FROM key CROSS JOIN retired
    WHERE s.account_id = key.account_id AND s.id = key.id AND s.purpose = key.purpose
      AND key.is_named = (s.expires_at IS NOT NULL)`
})
