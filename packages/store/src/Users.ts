import { PgClient } from "@effect/sql-pg"
import type { AccountId, UserId } from "@waybill/domain/Id"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { scrypt } from "node:crypto"

/** The cost that OWASP asks of scrypt (N=2^14, r=16, p=1 takes 32 MiB), in the form the sign-in library reads. */
const COST = { N: 16_384, r: 16, p: 1, maxmem: 128 * 1024 * 1024 }
const KEY_BYTES = 64
const SALT_BYTES = 16

export interface NewUser {
  readonly id: UserId
  readonly account_id: AccountId
  readonly email: string
  readonly role: "owner" | "member" | "viewer"
  readonly password: Redacted.Redacted
  readonly created_at: string
}

export const create = Effect.fn("Users.create")(function* (user: NewUser) {
  const sql = yield* PgClient.PgClient
  const hash = yield* hashOf(user.password)
  yield* Effect.orDie(sql`
    INSERT INTO users (id, account_id, email, role, password_hash, created_at)
    VALUES (${user.id}, ${user.account_id}, ${user.email.toLowerCase()}, ${user.role}, ${hash},
      ${user.created_at}::timestamptz)`)
})

const hashOf = (password: Redacted.Redacted): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    const salt = Buffer.from(SecureRandom.randomBytesUnsafe(SALT_BYTES)).toString("hex")
    scrypt(Redacted.value(password).normalize("NFKC"), salt, KEY_BYTES, COST, (error, key) =>
      resume(error === null ? Effect.succeed(`${salt}:${key.toString("hex")}`) : Effect.die(error)),
    )
  })
