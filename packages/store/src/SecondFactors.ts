import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as Users from "./Users.ts"

/** What stands beside a password, in the tables of the sign-in library. */
export interface SecondFactors {
  readonly authenticator: boolean
  readonly passkeys: number
}

export const of = Effect.fn("SecondFactors.of")(function* (user_id: string) {
  const sql = yield* PgClient.PgClient
  const [found] = yield* Effect.orDie(sql<SecondFactors>`
    SELECT EXISTS (SELECT FROM users WHERE id = ${user_id} AND two_factor_enabled)
        OR EXISTS (SELECT FROM user_two_factors WHERE user_id = ${user_id}) AS authenticator,
      (SELECT count(*)::int FROM user_passkeys WHERE user_id = ${user_id}) AS passkeys`)
  return found ?? { authenticator: false, passkeys: 0 }
})

/**
 * From now on the password alone signs in. Whoever holds what was lost is signed in no more, and a browser that was
 * trusted to skip the code has to ask for one that is set up later.
 */
export const remove = Effect.fn("SecondFactors.remove")(function* (user_id: string) {
  const sql = yield* PgClient.PgClient
  yield* Effect.orDie(
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`UPDATE users SET two_factor_enabled = false, updated_at = now() WHERE id = ${user_id}`
        yield* sql`DELETE FROM user_two_factors WHERE user_id = ${user_id}`
        yield* sql`DELETE FROM user_passkeys WHERE user_id = ${user_id}`
        yield* sql`DELETE FROM user_verifications WHERE value = ${user_id} AND identifier LIKE 'trust-device-%'`
        yield* sql`DELETE FROM user_sessions WHERE user_id = ${user_id}`
        yield* Users.dropLinks(user_id)
      }),
    ),
  )
})
