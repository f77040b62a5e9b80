import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Duration, Effect, Option } from "effect"
import { randomBytes } from "node:crypto"
import * as Iso from "../postgres/Iso.ts"
import * as Databases from "../routing/Databases.ts"
import { HomeSql } from "../routing/HomeSql.ts"
import { Secrets } from "../secrets/Secrets.ts"
import * as SignedNote from "./SignedNote.ts"

/** A key of the instance for the heads of its logs. */
export interface LogKey {
  readonly number: number
  readonly public_key: Uint8Array
  readonly began_at: Timestamp.Timestamp
  /** Time until which it signs, or has signed; null for the present key. */
  readonly ends_at: Timestamp.Timestamp | null
}

const SECRET_BYTES = 32
/** Time for which a process goes on with the keys that it has read. */
const READ_EVERY = Duration.seconds(5)
/** Time for which the former key signs beside its successor, so that whoever has only its name finds the new one. */
export const DEFAULT_OVERLAP = Duration.days(7)
/** Shortest such time: each process has read the new key by then. */
export const MIN_OVERLAP = Duration.minutes(1)

const secretOf = (number: number) => ({ account_id: "", id: "log", purpose: `log:${number}` })

/** Lists all keys, the oldest first. */
export const list = Effect.gen(function* () {
  const sql = yield* HomeSql
  return yield* sql<LogKey>`
    SELECT number, public_key, ${Iso.iso(sql, "began_at")} AS began_at, ${Iso.iso(sql, "ends_at")} AS ends_at
    FROM log_keys ORDER BY number`
})

const make = Effect.fnUntraced(function* (overlap: Duration.Duration | undefined) {
  const sql = yield* HomeSql
  const { open, seal } = yield* Secrets
  yield* sql`LOCK TABLE log_keys IN SHARE ROW EXCLUSIVE MODE`
  const keys = yield* list
  const last = keys.at(-1)
  if (last !== undefined && overlap === undefined) return last
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const number = (last?.number ?? 0) + 1
  const secret = randomBytes(SECRET_BYTES)
  yield* seal(secretOf(number), secret)
  const { key } = SignedNote.signer("", secret)
  if (last !== undefined && overlap !== undefined) {
    const ends_at = Timestamp.plus(now, Duration.toMillis(Duration.max(overlap, MIN_OVERLAP)))
    const former = yield* open(secretOf(last.number))
    if (Option.isSome(former)) yield* seal(secretOf(last.number), former.value, ends_at)
    yield* sql`UPDATE log_keys SET ends_at = ${ends_at}::timestamptz WHERE ends_at IS NULL`
  }
  yield* sql`INSERT INTO log_keys (number, public_key, began_at) VALUES (${number}::int, ${key}, ${now}::timestamptz)`
  return { number, public_key: key, began_at: now, ends_at: null } satisfies LogKey
})

const inTransaction = Effect.fnUntraced(function* (overlap?: Duration.Duration) {
  const sql = yield* HomeSql
  return yield* Databases.home.run(sql.withTransaction(make(overlap)))
})

/** Makes a new key. The present one signs beside it for a while, and its secret is deleted afterwards. */
export const rotate = (overlap = DEFAULT_OVERLAP) => Effect.withSpan(inTransaction(overlap), "LogKeys.rotate")

/** A key that signs, until its end. */
interface Secret {
  readonly secret: Uint8Array
  readonly ends_at: Timestamp.Timestamp | null
}

const readSecrets = Effect.gen(function* () {
  const { open } = yield* Secrets
  const known = yield* list
  const keys = known.length === 0 ? [yield* inTransaction()] : known
  const secrets: Array<Secret> = []
  for (const { ends_at, number } of keys.toReversed()) {
    const secret = yield* open(secretOf(number))
    if (Option.isSome(secret)) secrets.push({ secret: secret.value, ends_at })
  }
  return secrets
})

export type SignersOf = (origin: string) => ReadonlyArray<SignedNote.Signer>

/** Returns the keys that sign now. Makes the first one, and goes on with those it knows while home is away. */
export const makeSigners = Effect.gen(function* () {
  let known: ReadonlyArray<Secret> = []
  let readAt = -Infinity
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (now - readAt >= Duration.toMillis(READ_EVERY)) {
      const read = readSecrets
      known = known.length === 0 ? yield* read : yield* Effect.orElseSucceed(read, () => known)
      readAt = now
    }
    const at = Timestamp.fromMillis(now)
    const signing = known.filter(({ ends_at }) => ends_at === null || at < ends_at)
    const signersOf: SignersOf = (origin) => signing.map(({ secret }) => SignedNote.signer(origin, secret))
    return signersOf
  })
})

/** Returns the keys that have signed a note of a log, as others know them. */
export const vkeysOf = Effect.fnUntraced(function* (origin: string, note: string) {
  const keys = (yield* list).map(({ public_key }) => ({ name: origin, key: public_key }))
  return SignedNote.signersOf(note, keys.toReversed()).map(SignedNote.vkeyOf)
})
