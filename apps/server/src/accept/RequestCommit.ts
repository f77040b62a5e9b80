import type { PgClient } from "@effect/sql-pg"
import { withSortedKeys } from "@waybill/runtime/collections/withSortedKeys"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Headers } from "@waybill/api/schemas/Idempotency"
import type { Work } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import { type Actor, Provenance } from "@waybill/store/log/Provenance"
import { type Committed, IdempotencyKeyReused, type IdempotencyRef } from "@waybill/store/idempotency/IdempotencyRef"
import * as AccountWrites from "@waybill/store/locks/AccountWrites"
import * as IdempotentWork from "@waybill/store/idempotency/IdempotentWork"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Context, Effect, type Result } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { createHash } from "node:crypto"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewIds from "../process/NewIds.ts"

/** Decision of our own API about each message of a request: the recipients it will not reach, or why it is refused. */
export type Verdicts = ReadonlyArray<Result.Result<{ readonly suppressed: ReadonlyArray<string> }, Refusal>>

/** The request of a client whose call of the API was translated from another service's. */
export interface TranslatedRequest {
  /** Method and path as the client sent them. */
  readonly route: string
  /** Returns the hash of the body as the client sent it, which few requests need. */
  readonly hashOfBody: () => string
  /** Called with the verdict on each message of a send once it is committed, and not for a repeated answer. */
  readonly onVerdicts?: (verdicts: Verdicts) => void
}

/** The request that the call in progress was translated from; `undefined` if the client called the API itself. */
export const TranslatedRequest = Context.Reference<TranslatedRequest | undefined>(
  "@waybill/server/accept/RequestCommit/TranslatedRequest",
  { defaultValue: () => undefined },
)

/** The store and account that a request commits to, and its idempotency key if it has one. */
export interface Target {
  readonly store: EventStore["Service"]
  readonly account_id: IdempotencyRef["account_id"]
  readonly idempotency: IdempotencyRef | undefined
}

/** The parts of a request that identify it for idempotency. */
export interface Call {
  readonly endpoint: { readonly method: string; readonly path: string }
  readonly headers?: Headers
  readonly params?: unknown
  readonly payload?: unknown
}

/** Commits work that may be repeated without harm and needs no idempotency key, such as PATCH and DELETE. */
export const commitRepeatable = <A, E>(work: Work<A, E>) =>
  Effect.flatMap(CurrentKey, ({ account_id }) =>
    Effect.flatMap(EventStore, (store) => store.transact({ ...work, account_id })),
  )

/** How the answer to a request is stored under its idempotency key. */
export interface Encoding<A> {
  readonly encode: (ref: IdempotencyRef, answer: A) => Uint8Array
  readonly decode: (ref: IdempotencyRef, stored: Uint8Array) => A
}

export const PLAIN = {
  encode: (_: IdempotencyRef, answer: unknown): Uint8Array => Buffer.from(JSON.stringify(answer)),
  decode: (_: IdempotencyRef, stored: Uint8Array) => JSON.parse(Buffer.from(stored).toString("utf8")) as never,
}

const encrypted = Effect.map(Secrets, ({ openAnswer, sealAnswer }) => ({
  encode: (ref: IdempotencyRef, answer: unknown) => sealAnswer(ref, PLAIN.encode(ref, answer)),
  decode: (ref: IdempotencyRef, stored: Uint8Array) => PLAIN.decode(ref, openAnswer(ref, stored)),
}))

export interface Options {
  /** Whether nothing is looked up or created for the work, so that a repeated request need not be found before. */
  readonly isReady?: boolean
  /** Whether the answer shows a secret: it is stored encrypted, and repeated only to the same key or user. */
  readonly isSealed?: boolean
}

export const READY = { isReady: true } as const
export const SEALED = { isSealed: true } as const

/**
 * Commits work and, if the client sent an idempotency key, stores the answer in the same transaction. A repeated request
 * with the key gets the stored answer, and nothing is decided again. `prepare` looks up or creates something for the work
 * first. A repeated request skips that, because what it would look up may be gone, and what it would create would stay
 * unused; so its answer is looked up in a round trip of its own.
 */
export const commit = Effect.fnUntraced(function* <A, E, E2, R>(
  call: Call,
  prepare: Effect.Effect<Work<A, E>, E2, R>,
  { isReady = false, isSealed = false }: Options = {},
) {
  const target = yield* targetOf(call, isSealed ? (yield* Provenance).actor : undefined)
  return response(yield* commitTo(target, prepare, isReady, isSealed ? yield* encrypted : PLAIN))
})

/** Runs work that writes rows and no events, in one transaction with the stored answer, in the account's database. */
export const commitRows = Effect.fnUntraced(function* <A, E, R>(call: Call, work: Effect.Effect<A, E, R>) {
  const { account_id, idempotency: ref } = yield* targetOf(call)
  if (ref === undefined) return response({ answer: yield* AccountWrites.run(account_id, work), isReplayed: false })
  const working = IdempotentWork.run(ref, yield* NewIds.now, work, (answer) => PLAIN.encode(ref, answer))
  return response(outcomeOf<A>(ref, PLAIN, yield* refusingReuse(AccountWrites.run(account_id, working))))
})

/** The answer to a request, and whether it repeats the one to an earlier request. */
export interface Outcome<A> {
  readonly answer: A
  readonly isReplayed: boolean
}

/** Like `commit`, for a request that came in another way than the HTTP API. */
export const commitTo = <A, E, E2, R>(
  target: Target,
  prepare: Effect.Effect<Work<A, E>, E2, R>,
  isReady: boolean,
  encoding: Encoding<A> = PLAIN,
): Effect.Effect<Outcome<A>, E | E2 | RequestRefusal.IdempotencyKeyReused | StoreUnavailable, R | PgClient.PgClient> =>
  refusingReuse(commitOrReplay(target, prepare, isReady, encoding))

const commitOrReplay = Effect.fnUntraced(function* <A, E, E2, R>(
  { account_id, idempotency: ref, store }: Target,
  prepare: Effect.Effect<Work<A, E>, E2, R>,
  isReady: boolean,
  encoding: Encoding<A>,
) {
  if (ref === undefined)
    return { answer: yield* store.transact({ ...(yield* prepare), account_id }), isReplayed: false }
  const before = isReady ? undefined : yield* IdempotentWork.earlier(ref, yield* NewIds.now)
  if (before !== undefined) return outcomeOf<A>(ref, encoding, before)
  const idempotency = { ...ref, encode: (answer: A) => encoding.encode(ref, answer) }
  return outcomeOf<A>(ref, encoding, yield* store.transact({ ...(yield* prepare), account_id, idempotency }))
})

const outcomeOf = <A>(ref: IdempotencyRef, { decode }: Encoding<A>, committed: Committed<A>): Outcome<A> =>
  committed._tag === "Committed"
    ? { answer: committed.answer, isReplayed: false }
    : { answer: decode(ref, committed.storedAnswer), isReplayed: true }

const refusingReuse = <A, E, R>(
  committing: Effect.Effect<A, E | IdempotencyKeyReused, R>,
): Effect.Effect<A, E | RequestRefusal.IdempotencyKeyReused, R> =>
  Effect.mapError(committing, (error) =>
    error instanceof IdempotencyKeyReused ? new RequestRefusal.IdempotencyKeyReused() : error,
  )

interface ReplayHeaders {
  readonly "idempotent-replayed"?: "true"
}

export const response = <A>({ answer, isReplayed }: Outcome<A>) =>
  HttpApiSchema.withHeaders<A, ReplayHeaders>({
    body: answer,
    headers: isReplayed ? { "idempotent-replayed": "true" } : {},
  })

/** The target of a request in progress. `caller` is the only one to whom its answer may be repeated. */
export const targetOf = Effect.fnUntraced(function* (
  call: Call,
  caller?: Actor,
): Effect.fn.Return<Target, never, EventStore | CurrentKey> {
  const key = yield* CurrentKey
  const idempotency = refOf(key, yield* TranslatedRequest, call, caller)
  return { store: yield* EventStore, account_id: key.account_id, idempotency }
})

/**
 * Returns the idempotency key of a request, if it has one. The fingerprint covers the request and, where it would
 * change the answer, the domain that the key is bound to and the caller: another caller's request is a different one, and
 * is refused with 422.
 */
const refOf = (
  { account_id, domain }: CurrentKey["Service"],
  translated: TranslatedRequest | undefined,
  { endpoint, headers, params, payload }: Call,
  caller: Actor | undefined,
): IdempotencyRef | undefined => {
  const key = headers?.["idempotency-key"]
  if (key === undefined) return undefined
  const route = translated?.route ?? `${endpoint.method} ${endpoint.path.replace(/^\/v1/u, "")}`
  const callerParts = { ...(domain === null ? {} : { domain }), ...(caller === undefined ? {} : { caller }) }
  return {
    account_id,
    route,
    key,
    fingerprint: fingerprint(
      translated === undefined
        ? { params, payload, ...callerParts }
        : { body: translated.hashOfBody(), ...callerParts },
    ),
  }
}

/** Returns a hash that is equal for equal requests, whatever the order of fields and the white space. */
const fingerprint = (request: unknown): string =>
  createHash("sha256").update(JSON.stringify(request, withSortedKeys)).digest("hex")
