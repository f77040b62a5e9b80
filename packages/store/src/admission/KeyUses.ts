import { PgClient } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Context, Duration, Effect, Layer, Schedule } from "effect"

/** How often last uses are written down: one statement for all keys, and what a list of keys may lag behind. */
export const FLUSH_EVERY = Duration.seconds(5)
/** Keys noted between two writes. A use beyond it is not noted, and the key's next one is. */
export const MAX_KEYS_NOTED = 10_000

/** When each key was last used: noted in memory, written in batches, never a write a request. */
export class KeyUses extends Context.Service<
  KeyUses,
  {
    readonly note: (account_id: string, key_id: string, at_ms: number) => void
    readonly flush: Effect.Effect<void>
  }
>()("@waybill/store/admission/KeyUses") {
  static readonly layer = Layer.effect(
    KeyUses,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      let noted = new Map<string, Use>()
      const note = (account_id: string, key_id: string, at_ms: number): void => {
        const use = noted.get(key_id)
        if (use !== undefined) use.at_ms = Math.max(use.at_ms, at_ms)
        else if (noted.size < MAX_KEYS_NOTED) noted.set(key_id, { account_id, key_id, at_ms })
      }
      const flush = Effect.suspend(() => {
        if (noted.size === 0) return Effect.void
        const uses = [...noted.values()]
        noted = new Map()
        return write(sql, uses).pipe(
          Effect.tapCause((cause) => {
            for (const use of uses) note(use.account_id, use.key_id, use.at_ms)
            return Effect.logWarning("last uses of keys could not be written; they wait for the next time", cause)
          }),
          Effect.ignoreCause,
        )
      }).pipe(Effect.uninterruptible)
      yield* Effect.addFinalizer(() => flush)
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(FLUSH_EVERY)))
      return KeyUses.of({ note, flush: Effect.withSpan(flush, "KeyUses.flush") })
    }),
  )
}

interface Use {
  readonly account_id: string
  readonly key_id: string
  at_ms: number
}

/** In the order of the key, so that two nodes never wait for each other in a ring. */
const write = (sql: PgClient.PgClient, uses: ReadonlyArray<Use>) => sql`
  INSERT INTO api_key_uses AS u (account_id, key_id, last_used_at)
  SELECT * FROM unnest(${uses.map((use) => use.account_id)}::text[], ${uses.map((use) => use.key_id)}::text[],
    ${uses.map((use) => Timestamp.fromMillis(use.at_ms))}::timestamptz[]) AS new(account_id, key_id, last_used_at)
  ORDER BY new.account_id, new.key_id
  ON CONFLICT (account_id, key_id) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE u.last_used_at < excluded.last_used_at`
