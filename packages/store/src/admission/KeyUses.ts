import * as Timestamp from "@waybill/domain/values/Timestamp"
import { type Cause, Context, Duration, Effect, Layer, Schedule } from "effect"
import { Availability } from "../availability/Availability.ts"
import * as Databases from "../routing/Databases.ts"
import { Sql } from "../postgres/Sql.ts"
import { unlessAway } from "../postgres/StoreUnavailable.ts"

/** How often the last uses of keys are written, in one statement for all keys; a list of keys may be outdated by as much. */
export const FLUSH_EVERY = Duration.seconds(5)
/** Time limit of a write, so that the last one does not hold up the stop of the service beside a database that hangs. */
export const FLUSH_TIMEOUT = Duration.seconds(2)
/** Maximum number of keys noted between two writes. The uses of further keys are not noted until the next write. */
export const MAX_KEYS_NOTED = 10_000

/** Time of each key's last use. It is noted in memory and written in batches, never once for each request. */
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
      const sql = yield* Sql
      const { problem } = yield* Availability
      const withDatabases = yield* Databases.provider
      let noted = new Map<string, Use>()
      const note = (account_id: string, key_id: string, at_ms: number): void => {
        const use = noted.get(key_id)
        if (use !== undefined) use.at_ms = Math.max(use.at_ms, at_ms)
        else if (noted.size < MAX_KEYS_NOTED) noted.set(key_id, { account_id, key_id, at_ms })
      }
      const flush = Effect.suspend(() => {
        if (noted.size === 0 || problem() !== undefined) return Effect.void
        const uses = [...noted.values()]
        noted = new Map()
        return Databases.place(uses).pipe(
          Effect.flatMap(({ fenced, placed }) => {
            noteAgain(fenced)
            return Effect.forEach(placed, ({ rows, run }) => run(flushPart(rows)), { concurrency: "unbounded" })
          }),
          Effect.catchCause((cause) => notWritten(uses, cause)),
          withDatabases,
        )
      }).pipe(Effect.uninterruptible)
      const flushPart = (uses: ReadonlyArray<Use>) =>
        write(sql, uses).pipe(
          Effect.interruptible,
          Effect.timeout(FLUSH_TIMEOUT),
          Effect.catchCause((cause) => notWritten(uses, cause)),
        )
      const noteAgain = (uses: ReadonlyArray<Use>) => {
        for (const use of uses) note(use.account_id, use.key_id, use.at_ms)
      }
      const notWritten = (uses: ReadonlyArray<Use>, cause: Cause.Cause<unknown>) => {
        noteAgain(uses)
        return unlessAway(
          Effect.logWarning(
            "last uses of API keys could not be written; they will be written with the next ones",
            cause,
          ),
          cause,
        )
      }
      yield* Effect.addFinalizer(() => Effect.asVoid(flush))
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(FLUSH_EVERY)))
      return KeyUses.of({ note, flush: Effect.withSpan(Effect.asVoid(flush), "KeyUses.flush") })
    }),
  )
}

interface Use {
  readonly account_id: string
  readonly key_id: string
  at_ms: number
}

/** Writes the uses in the order of the key, so that two nodes cannot deadlock. */
const write = (sql: Sql, uses: ReadonlyArray<Use>) => sql`
  INSERT INTO api_key_uses AS u (account_id, key_id, last_used_at)
  SELECT * FROM unnest(${uses.map((use) => use.account_id)}::text[], ${uses.map((use) => use.key_id)}::text[],
    ${uses.map((use) => Timestamp.fromMillis(use.at_ms))}::timestamptz[]) AS new(account_id, key_id, last_used_at)
  ORDER BY new.account_id, new.key_id
  ON CONFLICT (account_id, key_id) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE u.last_used_at < excluded.last_used_at`
