import type * as Id from "@waybill/domain/values/Id"
import { Effect, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { scrypt } from "node:crypto"
import * as Memberships from "./Memberships.ts"
import type { Sql } from "../postgres/Sql.ts"
import * as AccountNames from "../routing/directory/AccountNames.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/**
 * Parameters of scrypt that OWASP recommends (N=2^14, r=16, p=1 takes 32 MiB), in the form the sign-in library reads.
 */
const COST = { N: 16_384, r: 16, p: 1, maxmem: 128 * 1024 * 1024 }
const KEY_BYTES = 64
const SALT_BYTES = 16

export interface NewUser extends User {
  readonly created_at: string
}

/** Creates the identity of a user. Its permissions come from the account's team. */
export const create = Effect.fn("Users.create")(function* (user: NewUser) {
  const sql = yield* HomeSql
  yield* sql`
    INSERT INTO users (id, email, name, operator, created_at, updated_at)
    VALUES (${user.id}, ${user.email.toLowerCase()}, ${user.name}, ${user.operator},
      ${user.created_at}::timestamptz, ${user.created_at}::timestamptz)`
})

/**
 * Restores the users of an imported log: members get users with the ids they have in the log, and can sign in once they
 * are given a password. None becomes an operator, because another instance's log must not decide that. `home` has the users.
 */
export const restore = Effect.fn("Users.restore")(function* (sql: Sql, home: Sql) {
  const members = yield* sql<Readonly<Record<"user_id" | "email" | "name" | "invited_at", string>>>`
    SELECT user_id, lower(email) AS email, record ->> 'name' AS name, record ->> 'invited_at' AS invited_at
    FROM members WHERE status <> 'removed'`
  const made = yield* home`
    INSERT INTO users (id, email, name, operator, created_at, updated_at)
    SELECT id, email, name, false, invited_at, now()
    FROM unnest(${members.map(({ user_id }) => user_id)}::text[], ${members.map(({ email }) => email)}::text[],
      ${members.map(({ name }) => name)}::text[], ${members.map(({ invited_at }) => invited_at)}::timestamptz[])
      AS m(id, email, name, invited_at)
    ON CONFLICT DO NOTHING RETURNING id`
  return made.length
})

export interface User {
  readonly id: Id.UserId
  readonly email: string
  readonly name: string
  readonly operator: boolean
}

/** Finds the users with an address: one per account that invited it, the oldest first. */
export const findByEmail = Effect.fn("Users.findByEmail")(function* (email: string) {
  const sql = yield* HomeSql
  return yield* sql<User>`
    SELECT id, email, name, operator FROM users WHERE email = ${email.toLowerCase()} ORDER BY created_at, id`
})

/**
 * Maximum number of users of one address whose passwords a sign-in is compared with. Each account has at most one, so
 * it is not expected to be reached.
 */
export const MAX_IDENTITIES = 20

/** A user who may be the one signing in with an address. */
export interface Identity {
  readonly id: Id.UserId
  readonly password_hash: string | null
  /** Subject of the identity provider that this user is bound to. */
  readonly subject: string | null
  /** Version of the user's password and second factors when the hash was read. */
  readonly proof_version: number
}

/** Finds the members with an address in all accounts: active ones first, then the oldest. */
export const identities = Effect.fn("Users.identities")(function* (email: string) {
  const sql = yield* HomeSql
  const users = yield* sql<Identity>`
    SELECT u.id, u.proof_version,
      (SELECT c.password FROM user_credentials c WHERE c.user_id = u.id AND c.provider_id = 'credential') AS password_hash,
      (SELECT c.subject FROM user_credentials c WHERE c.user_id = u.id AND c.provider_id <> 'credential') AS subject
    FROM users u WHERE u.email = ${email.toLowerCase()} ORDER BY u.created_at, u.id`
  const statusOf = yield* statuses(users.map(({ id }) => id))
  const ranked = users.flatMap((user) => {
    const status = statusOf.get(user.id)
    return status === undefined ? [] : [{ user, rank: status === "active" ? 0 : 1 }]
  })
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_IDENTITIES)
    .map(({ user }) => user)
})

/** Returns the status of those users who are members of an account. */
const statuses = (user_ids: ReadonlyArray<string>) =>
  Effect.map(
    Memberships.find(user_ids),
    (found) => new Map(found.flatMap(({ status, user_id }) => (status === "removed" ? [] : [[user_id, status]]))),
  )

/** Deletes a user whose invitation was refused. */
export const discard = Effect.fn("Users.discard")(function* (id: string) {
  const sql = yield* HomeSql
  if ((yield* Memberships.find([id])).length > 0) return
  yield* sql.withTransaction(Effect.andThen(sql`DELETE FROM users WHERE id = ${id}`, endProofs(id)))
})

export const find = Effect.fn("Users.find")(function* (id: string) {
  const sql = yield* HomeSql
  const rows = yield* sql<User>`SELECT id, email, name, operator FROM users WHERE id = ${id}`
  return Option.fromUndefinedOr(rows[0])
})

export interface UserOfAccount extends User {
  readonly account_id: string | null
  readonly role: string | null
  readonly status: string | null
}

/**
 * Lists all users, each with their account, and names the databases that do not answer in time. A user of such a one has no role
 * and no status in the list, because only it knows them.
 */
export const list = Effect.fn("Users.list")(function* () {
  const sql = yield* HomeSql
  const users = yield* sql<User>`SELECT id, email, name, operator FROM users ORDER BY id`
  const { missing, rows } = yield* Memberships.list()
  const unknown = { role: null, status: null }
  const memberships = new Map<string, Pick<UserOfAccount, "account_id" | "role" | "status">>(
    [...(yield* AccountNames.usersIn(missing)).map((each) => ({ ...each, ...unknown })), ...rows].map((each) => [
      each.user_id,
      each,
    ]),
  )
  return {
    rows: users.map((user): UserOfAccount => {
      const { account_id = null, role = null, status = null } = memberships.get(user.id) ?? {}
      return { ...user, account_id, role, status }
    }),
    missing,
  }
})

/** Makes somebody an operator, or ends that. Takes effect at their next request. */
export const setOperator = Effect.fn("Users.setOperator")(function* (id: string, operator: boolean) {
  const sql = yield* HomeSql
  yield* sql`UPDATE users SET operator = ${operator}, updated_at = now() WHERE id = ${id}`
})

/** Sets a password and ends all sessions. */
export const setPassword = Effect.fn("Users.setPassword")(function* (id: string, password: Redacted.Redacted) {
  const sql = yield* HomeSql
  const hash = yield* hashOf(password)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* endProofs(id)
      yield* sql`
          INSERT INTO user_credentials (id, user_id, provider_id, subject, password, created_at, updated_at)
          VALUES (${id}, ${id}, 'credential', ${id}, ${hash}, now(), now())
          ON CONFLICT (provider_id, subject) DO UPDATE SET password = excluded.password, updated_at = now()`
      yield* endSessions(id)
    }),
  )
})

/** Prefix of links in the sign-in library's table, followed by the link's token. */
export const LINK_PREFIX = "reset-password:"

/** Returns the address of the user whose password a link sets, if the link is valid. */
export const linkOwner = Effect.fn("Users.linkOwner")(function* (token: string) {
  const sql = yield* HomeSql
  const [owner] = yield* sql<{ readonly email: string }>`
    SELECT u.email FROM user_verifications v JOIN users u ON u.id = v.value
    WHERE v.identifier = ${LINK_PREFIX + token} AND v.expires_at > now()`
  return Option.fromUndefinedOr(owner?.email)
})

/** Prefix of links that were used, which are recorded so that opening one again says so. */
const USED_LINK_PREFIX = "used-link:"

/** Records that a link set a password. Its record belongs to no user, so that later changes leave it. */
export const recordUsedLink = Effect.fn("Users.recordUsedLink")(function* (token: string) {
  const sql = yield* HomeSql
  yield* sql`
    INSERT INTO user_verifications (id, identifier, value, expires_at, created_at, updated_at)
    VALUES (${USED_LINK_PREFIX + token}, ${USED_LINK_PREFIX + token}, '', now() + interval '1 year', now(), now())
    ON CONFLICT DO NOTHING`
})

/** Whether a link has set a password, within the last year. */
export const isUsedLink = Effect.fn("Users.isUsedLink")(function* (token: string) {
  const sql = yield* HomeSql
  const rows = yield* sql`
    SELECT FROM user_verifications WHERE identifier = ${USED_LINK_PREFIX + token} AND expires_at > now()`
  return rows.length > 0
})

/** Invalidates the links that set this user's password. */
export const dropLinks = Effect.fn("Users.dropLinks")(function* (id: string) {
  const sql = yield* HomeSql
  yield* sql`
    DELETE FROM user_verifications WHERE value = ${id} AND starts_with(identifier, ${LINK_PREFIX})`
})

/**
 * Ends everything short-lived that proves to be this user: links that set a password, browsers trusted to skip the
 * second factor, and sign-ins in progress. Every change of a password or a second factor calls this, first in its
 * transaction: `proofVersion` waits for it, so everything created before exists and is deleted.
 */
export const endProofs = Effect.fn("Users.endProofs")(function* (id: string) {
  const sql = yield* HomeSql
  const [changed] = yield* sql<{ readonly proof_version: number }>`
    UPDATE users SET proof_version = proof_version + 1 WHERE id = ${id} RETURNING proof_version`
  yield* sql`DELETE FROM user_verifications WHERE value = ${id}`
  return changed?.proof_version
})

/** Returns the version of a user's proofs. Waits for changes in progress. */
export const proofVersion = Effect.fn("Users.proofVersion")(function* (id: string) {
  const sql = yield* HomeSql
  const [user] = yield* sql<{ readonly proof_version: number }>`
    SELECT proof_version FROM users WHERE id = ${id} FOR SHARE`
  return user?.proof_version
})

/** Ends every session of a user. */
export const endSessions = Effect.fn("Users.endSessions")(function* (id: string) {
  const sql = yield* HomeSql
  yield* sql`DELETE FROM user_sessions WHERE user_id = ${id}`
})

/** Maximum number of sessions of a user. */
export const MAX_SESSIONS = 100

/** Ends all but the newest sessions of a user, because each sign-in adds one that stays for days. */
export const endOldestSessions = Effect.fn("Users.endOldestSessions")(function* (id: string) {
  const sql = yield* HomeSql
  yield* sql`
    DELETE FROM user_sessions WHERE id IN (
      SELECT id FROM user_sessions WHERE user_id = ${id} ORDER BY updated_at DESC, id OFFSET ${MAX_SESSIONS}::int)`
})

export const endSession = Effect.fn("Users.endSession")(function* (session_id: string) {
  const sql = yield* HomeSql
  yield* sql`DELETE FROM user_sessions WHERE id = ${session_id}`
})

export const endVerification = Effect.fn("Users.endVerification")(function* (verification_id: string) {
  const sql = yield* HomeSql
  yield* sql`DELETE FROM user_verifications WHERE id = ${verification_id}`
})

/** Invalidates the links older than this one. Of several created at once one stays valid. */
export const dropLinksBefore = Effect.fn("Users.dropLinksBefore")(function* (id: string, token: string) {
  const sql = yield* HomeSql
  yield* sql`
    DELETE FROM user_verifications AS former USING user_verifications AS newest
    WHERE newest.value = ${id} AND newest.identifier = ${LINK_PREFIX + token}
      AND former.value = ${id} AND starts_with(former.identifier, ${LINK_PREFIX})
      AND (former.created_at, former.id) < (newest.created_at, newest.id)`
})

/**
 * Removes the password, passkeys, second factors, sessions and links of a user who belongs to no account. An account
 * that invites the address later must not meet a former sign-in or link.
 */
export const forgetSignIn = Effect.fn("Users.forgetSignIn")(function* (id: string) {
  const sql = yield* HomeSql
  if ((yield* statuses([id])).size > 0) return
  const forget = Effect.gen(function* () {
    yield* sql`
      UPDATE users SET two_factor_enabled = false, proof_version = proof_version + 1, updated_at = now() WHERE id = ${id}`
    yield* sql`DELETE FROM user_credentials WHERE user_id = ${id}`
    yield* sql`DELETE FROM user_two_factors WHERE user_id = ${id}`
    yield* sql`DELETE FROM user_passkeys WHERE user_id = ${id}`
    yield* sql`DELETE FROM user_verifications WHERE value = ${id}`
    yield* endSessions(id)
  })
  yield* sql.withTransaction(forget)
})

/** Deletes expired sessions and links, and old counts of attempts. */
export const sweep = Effect.fn("Users.sweep")(function* () {
  const sql = yield* HomeSql
  yield* sql`DELETE FROM user_sessions WHERE expires_at < now()`
  yield* sql`DELETE FROM user_verifications WHERE expires_at < now()`
  yield* sql`
    DELETE FROM user_rate_limits WHERE last_request < extract(epoch FROM now() - interval '1 day') * 1000`
})

const hashOf = (password: Redacted.Redacted): Effect.Effect<string> =>
  Effect.callback<string>((resume) => {
    const salt = Buffer.from(SecureRandom.randomBytesUnsafe(SALT_BYTES)).toString("hex")
    scrypt(Redacted.value(password).normalize("NFKC"), salt, KEY_BYTES, COST, (error, key) =>
      resume(error === null ? Effect.succeed(`${salt}:${key.toString("hex")}`) : Effect.die(error)),
    )
  })
