import { type Checkpoint, parseCheckpoint, parseNote } from "@waybill/verify/SignedNote"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as Epoch from "../postgres/Epoch.ts"
import * as Databases from "../routing/Databases.ts"
import { type Client, Sql } from "../postgres/Sql.ts"
import type { SignersOf } from "./LogKeys.ts"
import * as LogTree from "./LogTree.ts"
import * as SignedNote from "./SignedNote.ts"

/** A name under which the tree of a database is, or was, signed, with its last checkpoint. */
export interface Tree {
  readonly tree: number
  readonly origin: string
  /** Epoch of the log in which it was signed. */
  readonly epoch: string
  readonly size: number
  readonly note: string
}

const SUFFIX_BYTES = 4
/** Ends the origin of a log that may have lost leaves, or that was imported. */
const SUFFIX = /\/~[0-9a-f]+$/u

/** The usual origin of a database's log, and where it is served below the address of the service. */
export const prefixOf = (database: string): string =>
  database === Databases.home.name ? "log" : `log/cells/${database}`
export const originOf = (baseUrl: string, database: string): string => {
  const { host, pathname } = new URL(baseUrl)
  return `${host}${pathname.replace(/\/$/u, "")}/${prefixOf(database)}`
}

/** Lists the names of a database's log, the present one first. */
export const trees = <E>(sql: Client<E>, limit = MAX_TREES) => sql<Tree>`
  SELECT tree, origin, epoch, size::float8 AS size, note FROM log_trees ORDER BY tree DESC LIMIT ${limit}::int`

/** Former names that are shown. */
const MAX_TREES = 100

/** Returns the checkpoint of a note that this service has signed. */
export const checkpointOf = (note: string): Checkpoint => parseCheckpoint(parseNote(note).text)

/** The line by which a log names the one that it continues, as that was known. */
const continues = ({ note, origin }: Tree): string => {
  const { root, size } = checkpointOf(note)
  return `continues ${origin} ${size} ${Buffer.from(root).toString("base64")}`
}

/** Seconds after its last signature for which a name is held against processes that have another `BASE_URL`. */
export const HELD_SECONDS = 60

/** A name of the log, and how long ago a process that has it as its own has signed. */
interface SignedTree extends Tree {
  readonly age_s: number
}

/** Whether a name of a log follows from a `BASE_URL`. */
export const isNameOf = (base: string, origin: string): boolean => origin.replace(SUFFIX, "") === base

/**
 * Chooses the name under which the tree is signed. On another server than before, as after a restore from a backup, leaves that
 * were signed may be lost, and others may come in their places: the log then goes on under a name that it never had. Of processes
 * with several names, the one whose name is in use keeps it for as long as it runs.
 */
const nextOrigin = (base: string, last: SignedTree | undefined, epoch: Epoch.Present): string => {
  const unused = () => `${base}/~${randomBytes(SUFFIX_BYTES).toString("hex")}`
  if (last === undefined) return epoch.isImported ? unused() : base
  if (last.epoch !== epoch.epoch) return unused()
  return last.age_s < HELD_SECONDS ? last.origin : `${base}${SUFFIX.exec(last.origin)?.[0] ?? ""}`
}

/**
 * Signs the tree of the fiber's database as it is, if it has grown or the keys have changed. In one transaction, so that all of it is
 * on one server. Returns the name of the log, if it has one.
 */
export const sign = Effect.fn("Checkpoints.sign")(function* (base: string, signersOf: SignersOf) {
  const sql = yield* Sql
  return yield* sql.withTransaction(signHere(sql, base, signersOf))
})

const isSignedBy = (note: string, signers: ReadonlyArray<SignedNote.Signer>): boolean =>
  parseNote(note).signatures.length === signers.length && SignedNote.signersOf(note, signers).length === signers.length

const signHere = Effect.fnUntraced(function* (sql: Sql, base: string, signersOf: SignersOf) {
  const { root, size } = yield* LogTree.read(sql)
  if (size === 0) return undefined
  // Until the first commit on another server nobody knows that it is another one.
  const epoch = yield* Epoch.present(sql)
  if (epoch === undefined) return undefined
  const known = yield* sql<SignedTree>`
    SELECT tree, origin, epoch, size::float8 AS size, note, extract(epoch FROM now() - signed_at)::float8 AS age_s
    FROM log_trees ORDER BY tree DESC LIMIT 2`
  const [last] = known
  const origin = nextOrigin(base, last, epoch)
  const isSame = last?.origin === origin && last.epoch === epoch.epoch
  const former = isSame ? known[1] : last
  const isOwn = isNameOf(base, origin)
  const signers = signersOf(origin)
  const isSigned = isSame && last.size === size && isSignedBy(last.note, signers)
  if (isSigned && (!isOwn || last.age_s < HELD_SECONDS / 2)) return origin
  const head = [
    origin,
    size,
    Buffer.from(root).toString("base64"),
    ...(former === undefined ? [] : [continues(former)]),
  ]
  const note = isSigned ? last.note : SignedNote.sign(`${head.join("\n")}\n`, signers)
  // The name is held by the signatures of those whose own it is.
  if (isSame)
    yield* sql`
      UPDATE log_trees SET ${sql.literal(isOwn ? "signed_at = now()," : "")} size = ${size}::bigint, note = ${note}
      WHERE tree = ${last.tree}::int AND size <= ${size}::bigint`
  else
    yield* sql`
      INSERT INTO log_trees (tree, origin, epoch, size, note, signed_at)
      VALUES (${(last?.tree ?? 0) + 1}::int, ${origin}, ${epoch.epoch}, ${size}::bigint, ${note}, now())
      ON CONFLICT DO NOTHING`
  return origin
})
