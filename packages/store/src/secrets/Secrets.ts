import { PgClient, PgTypes } from "@effect/sql-pg"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Clock, Context, Data, Duration, Effect, Layer, Option, Result, Runtime } from "effect"
import * as AccountWrites from "../locks/AccountWrites.ts"
import * as Databases from "../routing/Databases.ts"
import * as Reachable from "../routing/Reachable.ts"
import { InstanceKey, type Keyring, NONCE_BYTES, type Sealed } from "./InstanceKey.ts"
import * as SealedAddresses from "./SealedAddresses.ts"
import { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/** Secrets that one transaction of a rotation seals again. */
export const ROTATION_BATCH = 500
/** Age at which a secret without an owner is removed. It is sealed before the commit that creates its owner. */
export const ORPHAN_AFTER = "1 day"
const ANSWER_VERSION = 1

/** Key of a secret: owner and purpose, as in `("acc_…", "dom_…", "dkim:wb1")`. `id` is the id of the owner's stream. */
export interface SecretRef {
  readonly account_id: string
  readonly id: string
  readonly purpose: string
}

/**
 * The database is sealed under another instance key, so that no secret in it could be opened. Exits with EX_CONFIG, so that
 * nothing starts the service again.
 */
export class WrongInstanceKey extends Data.TaggedError("WrongInstanceKey")<{ readonly message: string }> {
  override readonly [Runtime.errorExitCode] = 78
}

/** Row sealed under the first key of the instance, by which a node with another key notices that at its start. */
const WITNESS: SecretRef = { account_id: "", id: "instance", purpose: "witness" }

export class Secrets extends Context.Service<
  Secrets,
  {
    /**
     * Stores the bytes, replacing existing ones. Joins the caller's transaction, if there is one. A commit of the event
     * store runs in another fiber, so its secret is sealed before: if the commit fails, the secret has no owner in the
     * log, and `sweep` removes it.
     */
    readonly seal: (
      ref: SecretRef,
      bytes: Uint8Array,
      expires_at?: Timestamp.Timestamp,
    ) => Effect.Effect<void, StoreUnavailable>
    readonly open: (ref: SecretRef) => Effect.Effect<Option.Option<Uint8Array>, StoreUnavailable>
    readonly remove: (account_id: string, id: string) => Effect.Effect<void, StoreUnavailable>
    /** Seals everything again that is not under the current key, in all databases that answer, while the instance keeps running. */
    readonly rotate: Effect.Effect<Rotated & { readonly unreachable: ReadonlyArray<string> }, StoreUnavailable>
    /** Deletes secrets of the fiber's database that expired or never got an owner, and returns how many. Runs periodically. */
    readonly sweep: Effect.Effect<number, StoreUnavailable>
    /** Seals a stored answer that shows a secret. Synchronous, because answers are encoded inside a decision. */
    readonly sealAnswer: (context: AnswerContext, bytes: Uint8Array) => Uint8Array
    readonly openAnswer: (context: AnswerContext, bytes: Uint8Array) => Uint8Array
  }
>()("@waybill/store/secrets/Secrets") {
  static readonly layer = Layer.effect(
    Secrets,
    Effect.gen(function* () {
      const sql = yield* Sql
      const keys = yield* InstanceKey
      yield* checkWitness(sql, keys)
      return Secrets.of({
        seal: Effect.fn("Secrets.seal")(function* (ref, bytes, expires_at) {
          const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
          const writing = write(sql, ref, keys.seal(contextOf(ref), bytes), now, expires_at ?? null)
          yield* AccountWrites.run(ref.account_id, writing).pipe(Effect.provideService(PgClient.PgClient, sql.driver))
        }),
        open: Effect.fn("Secrets.open")(function* (ref) {
          const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
          const [row] = yield* Databases.ofAccount(ref.account_id, read(sql, ref, now))
          return Option.map(Option.fromUndefinedOr(row), (sealed) => keys.open(contextOf(ref), sealed))
        }),
        remove: Effect.fn("Secrets.remove")(function* (account_id, id) {
          const removal = sql`DELETE FROM secrets WHERE account_id = ${account_id} AND id = ${id}`
          yield* AccountWrites.run(account_id, removal).pipe(Effect.provideService(PgClient.PgClient, sql.driver))
        }),
        rotate: Effect.withSpan(rotateAll(sql, keys), "Secrets.rotate"),
        sweep: Effect.withSpan(sweep(sql), "Secrets.sweep"),
        sealAnswer: (context, bytes) => pack(keys.seal(answerContext(context), bytes)),
        openAnswer: (context, bytes) => keys.open(answerContext(context), unpack(bytes)),
      })
    }),
  )
}

export interface AnswerContext {
  readonly account_id: string
  readonly route: string
  readonly key: string
}

/** Context that a secret's bytes are bound to. */
export const contextOf = ({ account_id, id, purpose }: SecretRef) => ["secret", account_id, id, purpose]
const answerContext = ({ account_id, key, route }: AnswerContext) => ["answer", account_id, route, key]

const write = (
  sql: Sql,
  { account_id, id, purpose }: SecretRef,
  { ciphertext, key_id, nonce }: Sealed,
  now: string,
  expires_at: string | null,
) => sql`
  INSERT INTO secrets (account_id, id, purpose, key_id, nonce, ciphertext, created_at, expires_at)
  VALUES (${account_id}, ${id}, ${purpose}, ${key_id}, ${nonce}, ${ciphertext}, ${now}::timestamptz,
    ${expires_at}::timestamptz)
  ON CONFLICT (account_id, id, purpose) DO UPDATE SET key_id = excluded.key_id, nonce = excluded.nonce,
    ciphertext = excluded.ciphertext, created_at = excluded.created_at, expires_at = excluded.expires_at`

const read = (sql: Sql, { account_id, id, purpose }: SecretRef, now: string) => sql<Sealed>`
  SELECT key_id, nonce, ciphertext FROM secrets
  WHERE account_id = ${account_id} AND id = ${id} AND purpose = ${purpose}
    AND (expires_at IS NULL OR expires_at > ${now}::timestamptz)`

const checkWitness = Effect.fnUntraced(function* (sql: Sql, keys: Keyring) {
  const { ciphertext, key_id, nonce } = keys.seal(contextOf(WITNESS), Buffer.from("waybill"))
  yield* sql`
    INSERT INTO secrets (account_id, id, purpose, key_id, nonce, ciphertext, created_at)
    VALUES (${WITNESS.account_id}, ${WITNESS.id}, ${WITNESS.purpose}, ${key_id}, ${nonce}, ${ciphertext}, now())
    ON CONFLICT DO NOTHING`
  const [row] = yield* sql<Sealed>`
    SELECT key_id, nonce, ciphertext FROM secrets
    WHERE account_id = ${WITNESS.account_id} AND id = ${WITNESS.id} AND purpose = ${WITNESS.purpose}`
  if (row === undefined || keys.ids.includes(row.key_id)) return
  return yield* new WrongInstanceKey({
    message:
      `this database is sealed under the instance key ${row.key_id}, but this node has ${keys.ids.join(", ")}: ` +
      "give it the file instance.key of the first node, or WAYBILL_INSTANCE_KEY (docs/operating/keys.md)",
  })
})

interface Rotated {
  readonly resealed: number
  readonly unreadable: number
}

/**
 * Rotates the secrets of every database that answers. Home is last, because it has the witness, which is left under the former
 * key while another one was left out.
 */
const rotateAll = Effect.fnUntraced(function* (sql: Sql, keys: Keyring) {
  const [home = Databases.home, ...databases] = yield* Databases.all
  const others = yield* Reachable.eachOf(sql, databases, rotate(sql, keys, true))
  yield* home.run(sql.withTransaction(SealedAddresses.sealAgain(sql)))
  const first = yield* Reachable.eachOf(sql, [home], rotate(sql, keys, others.unreachable.length === 0))
  const rotated = [...others.results, ...first.results].map(([, each]) => each)
  return {
    resealed: rotated.reduce((sum, { resealed }) => sum + resealed, 0),
    unreadable: rotated.reduce((sum, { unreadable }) => sum + unreadable, 0),
    unreachable: [...first.unreachable, ...others.unreachable],
  }
})

const rotate = Effect.fnUntraced(function* (sql: Sql, keys: Keyring, isComplete: boolean) {
  const former = keys.ids.filter((id) => id !== keys.current)
  // A database whose secrets stay locked is left out as one that does not answer.
  const limit = sql`SET LOCAL lock_timeout = ${sql.literal(String(Duration.toMillis(Databases.ANSWER_WITHIN)))}`
  const batch = sql.withTransaction(
    Effect.gen(function* () {
      yield* limit
      const rows = yield* sql<SecretRef & Sealed>`
        SELECT account_id, id, purpose, key_id, nonce, ciphertext FROM secrets WHERE key_id = ANY(${former}::text[])
          AND (${isComplete}::boolean OR account_id <> ${WITNESS.account_id})
        -- The witness is last: until a rotation is complete, no node starts without the former key.
        ORDER BY account_id = ${WITNESS.account_id}, account_id, id, purpose LIMIT ${ROTATION_BATCH}::int FOR UPDATE`
      if (rows.length === 0) return 0
      const sealed = rows.map((row) => keys.seal(contextOf(row), keys.open(contextOf(row), row)))
      yield* sql`
        UPDATE secrets s SET key_id = ${keys.current}, nonce = new.nonce, ciphertext = new.ciphertext
        FROM unnest(${rows.map((row) => row.account_id)}::text[], ${rows.map((row) => row.id)}::text[],
          ${rows.map((row) => row.purpose)}::text[], ${bytea(sealed.map((each) => each.nonce))},
          ${bytea(sealed.map((each) => each.ciphertext))}) AS new(account_id, id, purpose, nonce, ciphertext)
        WHERE s.account_id = new.account_id AND s.id = new.id AND s.purpose = new.purpose`
      return rows.length
    }),
  )
  let resealed = 0
  for (let done = -1; done !== 0; resealed += done) done = yield* batch
  const [row] = yield* sql<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM secrets WHERE key_id <> ALL(${keys.ids}::text[])`
  return { resealed, unreadable: row?.n ?? 0 }
})

const bytea = (values: ReadonlyArray<Uint8Array>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.bytea))

const sweep = Effect.fnUntraced(function* (sql: Sql) {
  const [row] = yield* sql<{ readonly n: number }>`
    WITH removed AS (
      DELETE FROM secrets s
      WHERE s.expires_at <= now() OR (s.account_id <> ${WITNESS.account_id} AND (
        s.created_at < now() - ${ORPHAN_AFTER}::interval
        AND NOT EXISTS (SELECT 1 FROM events e WHERE e.account_id = s.account_id AND e.stream_id = s.id)))
      RETURNING 1
    ) SELECT count(*)::int AS n FROM removed`
  return row?.n ?? 0
})

/** Encodes as one version byte, the key's id, the nonce and the ciphertext. */
const pack = ({ ciphertext, key_id, nonce }: Sealed): Uint8Array =>
  Buffer.concat([Uint8Array.of(ANSWER_VERSION), Buffer.from(key_id, "hex"), nonce, ciphertext])

const unpack = (bytes: Uint8Array): Sealed => {
  if (bytes[0] !== ANSWER_VERSION) throw new Error("not a sealed answer")
  return {
    key_id: Buffer.from(bytes.subarray(1, 9)).toString("hex"),
    nonce: bytes.subarray(9, 9 + NONCE_BYTES),
    ciphertext: bytes.subarray(9 + NONCE_BYTES),
  }
}
