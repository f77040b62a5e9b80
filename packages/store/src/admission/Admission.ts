import { PgClient } from "@effect/sql-pg"
import type * as DomainName from "@waybill/domain/domain/DomainName"
import type * as Id from "@waybill/domain/values/Id"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import type * as Scope from "@waybill/domain/account/Scope"
import { Cause, Clock, Context, Deferred, Effect, Exit, Layer, Option, Queue } from "effect"
import type { SqlError } from "effect/sql"
import { type Asked, type Judged, statement } from "./AdmissionStatement.ts"
import * as PipelinedConnection from "../postgres/PipelinedConnection.ts"
import { KeyUses } from "./KeyUses.ts"
import * as RateWindows from "./RateWindows.ts"
import * as Span from "../postgres/Span.ts"

/** Requests that one statement admits at most. */
export const MAX_REQUESTS_IN_STATEMENT = 256
/** Statements under way at once: while one waits for a hot window, the next is already being filled. */
export const STATEMENTS_IN_FLIGHT = 2
/** Requests that wait beyond this make their callers wait to be let in. */
export const MAX_REQUESTS_WAITING = 10_000
/** How often a statement is sent again when the connection was lost. What it had counted may then count twice. */
export const MAX_RETRIES = 3

export interface Request {
  /** SHA-256 of the key that was sent, in hexadecimal; `null` when none was, or none that can be a key. */
  readonly tokenHash: string | null
  readonly bucket: RateLimit.Bucket
  /** The client's address, as seen behind trusted proxies. */
  readonly address: string
}

export interface Key {
  readonly id: Id.ApiKeyId
  readonly account_id: Id.AccountId
  readonly scopes: ReadonlyArray<Scope.Scope>
  /** The one domain it may send from. */
  readonly domain: DomainName.DomainName | null
}

/** Every verdict says where the window stands, for every answer says it (contract §1). */
export type Verdict = Admitted | Unauthorized | RateLimited
export interface Admitted {
  readonly _tag: "Admitted"
  readonly key: Key
  readonly standing: RateLimit.Standing
}
export interface Unauthorized {
  readonly _tag: "Unauthorized"
  readonly reason: "missing" | Exclude<Judged["verdict"], "valid">
  readonly standing: RateLimit.Standing
}
export interface RateLimited {
  readonly _tag: "RateLimited"
  /** `null` for a client without a valid key. */
  readonly key: Key | null
  readonly standing: RateLimit.Standing
  readonly refusal: RateLimit.RequestRateExceeded
}

/**
 * Who may come in: the key, its expiry, its revocation, its addresses and the rate window, in one statement for all
 * requests that wait when it is sent. Nothing about a key is ever remembered: a request never joins a statement that
 * is already on its way, so the statement's snapshot holds every revocation that was answered before the request came.
 */
export class Admission extends Context.Service<
  Admission,
  { readonly admit: (request: Request) => Effect.Effect<Verdict> }
>()("@waybill/store/admission/Admission") {
  static readonly layer = Layer.effect(
    Admission,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const uses = yield* KeyUses
      const spent = RateWindows.spentWindows()
      const queue = yield* Queue.bounded<Entry>(MAX_REQUESTS_WAITING)
      yield* Effect.forEach(
        Array.from({ length: STATEMENTS_IN_FLIGHT }),
        // A connection each, or the one that waits would hold up the next.
        Effect.fnUntraced(function* () {
          const line = yield* PipelinedConnection.make(sql, PipelinedConnection.BY_KEY)
          const gate: Gate = { ask: (asked) => line.alone(statement(sql, asked)), uses, spent }
          const flight = Effect.flatMap(take(queue), (entries) => fly(gate, entries))
          yield* Effect.forkScoped(Effect.forever(flight), { startImmediately: true })
        }),
        { discard: true },
      )
      return Admission.of({
        admit: (request) =>
          Span.around(
            Effect.withFiber((fiber) => {
              const address = RateWindows.clientAddress(request.address)
              if (request.tokenHash === null) {
                const nanos = fiber.getRef(Clock.Clock).monotonicTimeNanosUnsafe()
                const refused = refuseKnown(spent.get(address.bucket), request, nanos)
                if (refused !== undefined) return Effect.succeed(refused)
              }
              const name = `${request.tokenHash} ${request.bucket} ${address.text}`
              return Effect.callback((resume) => {
                const entry: Entry = { name, request, address, done: resume }
                if (!Queue.offerUnsafe(queue, entry)) resume(letIn(queue, entry))
              })
            }),
            "Admission.admit",
          ),
      })
    }),
  )
}

/** Too many wait, so who comes now waits to be among them. */
const letIn = Effect.fnUntraced(function* (queue: Queue.Queue<Entry>, entry: Entry) {
  const done = Deferred.makeUnsafe<Verdict>()
  yield* Queue.offer(queue, { ...entry, done: (verdict) => Deferred.doneUnsafe(done, verdict) })
  return yield* Deferred.await(done)
})

interface Entry {
  /** The same for requests that are alike to the statement. */
  readonly name: string
  readonly request: Request
  readonly address: RateWindows.ClientAddress
  readonly done: (verdict: Exit.Exit<Verdict>) => void
}

interface Gate {
  readonly ask: (asked: ReadonlyArray<Asked>) => Effect.Effect<ReadonlyArray<Judged>, SqlError.SqlError>
  readonly uses: KeyUses["Service"]
  readonly spent: RateWindows.SpentWindows
}

const take = (queue: Queue.Dequeue<Entry>) =>
  Effect.gen(function* () {
    const entries: Array<Entry> = [yield* Queue.take(queue)]
    while (entries.length < MAX_REQUESTS_IN_STATEMENT) {
      const next = yield* Queue.poll(queue)
      if (Option.isNone(next)) break
      entries.push(next.value)
    }
    return entries
  })

const fly = (gate: Gate, entries: ReadonlyArray<Entry>): Effect.Effect<void> =>
  judge(gate, entries).pipe(
    Effect.retry({ while: (error) => error.isRetryable, times: MAX_RETRIES }),
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) return
        const defect = Cause.squash(exit.cause)
        for (const { done } of entries) done(Exit.die(defect))
      }),
    ),
    Effect.ignoreCause,
  )

const judge = Effect.fnUntraced(function* (gate: Gate, entries: ReadonlyArray<Entry>) {
  const alike = new Map<string, Array<Entry>>()
  for (const entry of entries) {
    const siblings = alike.get(entry.name)
    if (siblings === undefined) alike.set(entry.name, [entry])
    else siblings.push(entry)
  }
  const asked = [...alike.values()].map((siblings) => askedOf(gate.spent, siblings))
  const sent_nanos = yield* Clock.monotonicTimeNanos
  const rows = yield* gate.ask(asked)
  const rowByName = new Map([...alike.keys()].map((name, i) => [name, rows[i]]))

  // How many each window held before these.
  const places = new Map<string, number>()
  for (const [i, row] of rows.entries()) {
    const counted = row.total === null ? 0 : (asked[i]?.requests ?? 0)
    places.set(row.window_name, (places.get(row.window_name) ?? row.total ?? row.limit_count) - counted)
    remember(gate.spent, asked[i], row, sent_nanos)
  }
  for (const { done, name, request } of entries) {
    const row = rowByName.get(name)
    if (row === undefined) return yield* Effect.die(new Error("the statement did not answer for every request"))
    // Requests of one window take their places in the order in which they came.
    const place = (places.get(row.window_name) ?? 0) + 1
    places.set(row.window_name, place)
    const verdict = verdictOf(request, row, place)
    if (verdict._tag === "Admitted") gate.uses.note(verdict.key.account_id, verdict.key.id, row.now_ms)
    done(Exit.succeed(verdict))
  }
})

const spentKeyName = (hash: string | null, bucket: RateLimit.Bucket): string => `${hash}/${bucket}`

const askedOf = (spent: RateWindows.SpentWindows, siblings: ReadonlyArray<Entry>): Asked => {
  const { address, request } = siblings[0] as Entry
  return {
    hash: request.tokenHash,
    bucket: request.bucket,
    address: address.text,
    anonymous: address.bucket,
    requests: siblings.length,
    spentKey: spent.get(spentKeyName(request.tokenHash, request.bucket)),
    spentAnonymous: spent.get(address.bucket),
  }
}

const remember = (spent: RateWindows.SpentWindows, asked: Asked | undefined, row: Judged, sent_nanos: bigint): void => {
  if (asked === undefined || row.total === null || row.total < row.limit_count) return
  // Reckoned from when the statement was sent: by this clock it never lasts longer than by the database's.
  const left_ms = RateLimit.windowEnd(row.now_ms) - row.now_ms
  spent.remember(row.verdict === "valid" ? spentKeyName(asked.hash, asked.bucket) : asked.anonymous, {
    window_ms: RateLimit.windowStart(row.now_ms),
    limit: row.limit_count,
    ends_nanos: sent_nanos + BigInt(left_ms) * 1_000_000n,
  })
}

const verdictOf = (request: Request, row: Judged, place: number): Verdict => {
  const standing = RateLimit.standing(row.limit_count, place, row.now_ms)
  const key = row.verdict === "valid" ? keyOf(row) : null
  if (place > row.limit_count) return rateLimited(key, request.bucket, row.limit_count, row.now_ms)
  if (key !== null) return { _tag: "Admitted", key, standing }
  const reason = row.verdict === "valid" || request.tokenHash === null ? "missing" : row.verdict
  return { _tag: "Unauthorized", reason, standing }
}

const keyOf = (row: Judged): Key => ({
  id: row.key_id as Id.ApiKeyId,
  account_id: row.account_id as Id.AccountId,
  scopes: row.scopes as ReadonlyArray<Scope.Scope>,
  domain: row.domain as DomainName.DomainName | null,
})

const rateLimited = (key: Key | null, bucket: RateLimit.Bucket, limit: number, now_ms: number): RateLimited => ({
  _tag: "RateLimited",
  key,
  standing: RateLimit.standing(limit, limit, now_ms),
  refusal: new RateLimit.RequestRateExceeded({ bucket, limit, retry_after_s: RateLimit.retryAfterSeconds(now_ms) }),
})

/** Without a key there is nothing to look up: a client known to be over its limit costs the database nothing. */
const refuseKnown = (
  spent: RateWindows.Spent | undefined,
  { bucket }: Request,
  nanos: bigint,
): RateLimited | undefined => {
  if (spent === undefined || nanos >= spent.ends_nanos) return undefined
  const end_ms = RateLimit.windowEnd(spent.window_ms)
  const now_ms = Math.min(Math.floor(end_ms - Number(spent.ends_nanos - nanos) / 1e6), end_ms - 1)
  return rateLimited(null, bucket, spent.limit, now_ms)
}
