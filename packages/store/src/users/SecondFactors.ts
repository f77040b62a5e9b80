import { Effect } from "effect"
import * as Users from "./Users.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Ways to sign in, or to prove a sign-in, besides the password, from the tables of the sign-in library. */
export interface SecondFactors {
  readonly authenticator: boolean
  readonly passkeys: number
  /** Whether the user is bound to an identity of the organisation's provider. */
  readonly provider: boolean
}

export const of = Effect.fn("SecondFactors.of")(function* (user_id: string) {
  const sql = yield* HomeSql
  const [row] = yield* sql<SecondFactors>`
    SELECT EXISTS (SELECT FROM users WHERE id = ${user_id} AND two_factor_enabled)
        OR EXISTS (SELECT FROM user_two_factors WHERE user_id = ${user_id}) AS authenticator,
      (SELECT count(*)::int FROM user_passkeys WHERE user_id = ${user_id}) AS passkeys,
      EXISTS (SELECT FROM user_credentials WHERE user_id = ${user_id} AND provider_id <> 'credential') AS provider`
  return row ?? { authenticator: false, passkeys: 0, provider: false }
})

/** Finds the authenticator of a user, with its secret as the sign-in library encrypted it. */
export const authenticatorOf = Effect.fn("SecondFactors.authenticatorOf")(function* (user_id: string) {
  const sql = yield* HomeSql
  const [row] = yield* sql<{ readonly id: string; readonly secret: string }>`
    SELECT id, secret FROM user_two_factors WHERE user_id = ${user_id}`
  return row
})

/** Accepts the counter of a passkey if it has increased. Authenticators without a counter always report zero. */
export const acceptCounter = Effect.fn("SecondFactors.acceptCounter")(function* (
  credential_id: string,
  counter: number,
) {
  const sql = yield* HomeSql
  const accepted = yield* sql`
    UPDATE user_passkeys SET counter = ${counter}
    WHERE credential_id = ${credential_id} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0)) RETURNING id`
  return accepted.length === 1
})

/**
 * Accepts the code of a time step at most once per user, on all nodes: a step not newer than the last accepted one is
 * refused (RFC 6238, section 5.2).
 */
export const acceptStep = Effect.fn("SecondFactors.acceptStep")(function* (factor_id: string, step: number) {
  const sql = yield* HomeSql
  const accepted = yield* sql`
    UPDATE user_two_factors SET last_step = ${step}
    WHERE id = ${factor_id} AND (last_step IS NULL OR last_step < ${step}) RETURNING id`
  return accepted.length === 1
})

/**
 * Removes all second factors, so that the password alone signs in. Ends all sessions, in case the factor was stolen,
 * and trusted browsers, which have to enter the code of a later factor.
 */
export const remove = Effect.fn("SecondFactors.remove")(function* (user_id: string) {
  const sql = yield* HomeSql
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* Users.endProofs(user_id)
      yield* sql`UPDATE users SET two_factor_enabled = false, updated_at = now() WHERE id = ${user_id}`
      yield* sql`DELETE FROM user_two_factors WHERE user_id = ${user_id}`
      yield* sql`DELETE FROM user_passkeys WHERE user_id = ${user_id}`
      yield* sql`DELETE FROM user_credentials WHERE user_id = ${user_id} AND provider_id <> 'credential'`
      yield* Users.endSessions(user_id)
    }),
  )
})
