import type { PgClient } from "@effect/sql-pg"
import { withSortedKeys } from "@waybill/runtime/collections/withSortedKeys"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import type { Headers } from "@waybill/api/schemas/Idempotency"
import type * as KeyLimits from "@waybill/domain/account/KeyLimits"
import { type Commit, IdempotencyKeyReused } from "@waybill/store/commit/Commit"
import { EventStore } from "@waybill/store/commit/EventStore"
import { type Actor, Provenance } from "@waybill/store/log/Provenance"
import type { IdempotencyRef } from "@waybill/store/idempotency/IdempotencyRef"
import * as AccountWrites from "@waybill/store/locks/AccountWrites"
import * as IdempotentWork from "@waybill/store/idempotency/IdempotentWork"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Context, Effect } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { createHash } from "node:crypto"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewIds from "../process/NewIds.ts"

/** The work of a request in one transaction: streams to load, a decision, events to append. */
export type Work<A, E> = Omit<Commit<A, E>, "account_id">

/** The request of a client whose call of the API was translated from another service's. */
export interface TranslatedRequest {
  /** Method and path as the client sent them. */
  readonly route: string
  /** Returns the hash of the body as the client sent it, which few requests need. */
  readonly hashOfBody: () => string
  /** Whether the other service accepts mail to suppressed recipients alone, and says so later. */
  readonly acceptsSuppressed: boolean
  /** The suppressed recipients of each email that this request accepts, which our own answers do not name. */
  readonly suppressed: Map<string, ReadonlyArray<string>>
}

/** The request that the call in progress was translated from; `undefined` if the client called the API itself. */
export const TranslatedRequest = Context.Reference<TranslatedRequest | undefined>(
  "@waybill/server/accept/RequestCommit/TranslatedRequest",
  { defaultValue: () => undefined },
)

/** The store and account that a request commits to. */
export interface Target {
  readonly store: EventStore["Service"]
  readonly account_id: IdempotencyRef["account_id"]
  /** The domain that the caller's key is bound to. */
  readonly domain: KeyLimits.BoundDomain
  readonly translated?: TranslatedRequest | undefined
}

/** The target of the request in progress. */
const currentTarget = Effect.gen(function* (): Effect.fn.Return<Target, never, EventStore | CurrentKey> {
  const { account_id, domain } = yield* CurrentKey
  return { store: yield* EventStore, account_id, domain, translated: yield* TranslatedRequest }
})

/** The parts of a request that identify it for idempotency. */
export interface Call {
  readonly endpoint: { readonly method: string; readonly path: string }
  readonly headers?: Headers
  readonly params?: unknown
  readonly payload?: unknown
  /** The caller, where the answer must not be repeated to anybody else. */
  readonly caller?: Actor
}

/** Commits work that may be repeated without harm and needs no idempotency key, such as PATCH and DELETE. */
export const commitRepeatable = <A, E>(work: Work<A, E>) =>
  Effect.flatMap(currentTarget, ({ account_id, store }) => store.transact({ ...work, account_id }))

/**
 * Work, or what looks up or creates something for it first. A repeated request skips that, because what it would look up
 * may be gone, and what it would create would stay unused. Its answer is looked up in a round trip of its own.
 */
export type WorkOrPreparation<A, E, E2, R> = Work<A, E> | Effect.Effect<Work<A, E>, E2, R>

/**
 * Commits work and, if the client sent an idempotency key, stores the answer in the same transaction. A repeated request
 * with the key gets the stored answer, and nothing is decided again.
 */
export const commit = <A, E, E2 = never, R = never>(
  call: Call,
  work: WorkOrPreparation<A, E, E2, R>,
  encoding: Encoding = PLAIN,
) => commitBy(call, (target, ref) => commitKeyed(target, ref, work, encoding))

/** Like `commit`, for work that commits by itself. */
export const commitBy = <A, E, R>(
  call: Call,
  committing: (target: Target, ref: IdempotencyRef | undefined) => Effect.Effect<Outcome<A>, E, R>,
) => Effect.flatMap(currentTarget, (target) => Effect.map(committing(target, refOf(target, call)), response))

/** Like `commit`, for an answer that shows a secret: it is stored encrypted and repeated only to the same key or user. */
export const commitSealed = Effect.fnUntraced(function* <A, E, E2, R>(
  call: Call,
  prepare: Effect.Effect<Work<A, E>, E2, R>,
) {
  const secrets = yield* Secrets
  const { actor } = yield* Provenance
  return yield* commit({ ...call, caller: actor }, prepare, { seal: secrets.sealAnswer, open: secrets.openAnswer })
})

/** Runs work that writes rows and no events, in one transaction with the stored answer, in the cell of the account. */
export const commitRows = Effect.fnUntraced(function* <A, E, R>(call: Call, work: Effect.Effect<A, E, R>) {
  const key = yield* CurrentKey
  const ref = refOf({ ...key, translated: yield* TranslatedRequest }, call)
  if (ref === undefined) return response({ answer: yield* AccountWrites.run(key.account_id, work), isReplayed: false })
  const working = IdempotentWork.run(ref, yield* NewIds.now, work, (answer) => Buffer.from(JSON.stringify(answer)))
  const done = yield* AccountWrites.run(key.account_id, working)
  if (done._tag === "New") return response({ answer: done.answer, isReplayed: false })
  if (done.fingerprint !== ref.fingerprint) return yield* new RequestRefusal.IdempotencyKeyReused()
  return response(replayed<A>(ref, done.answer, PLAIN))
})

/** The answer to a request, and whether it repeats the one to an earlier request. */
export interface Outcome<A> {
  readonly answer: A
  readonly isReplayed: boolean
}

/** Commits work under an idempotency key, if there is one. */
export const commitKeyed = <A, E, E2 = never, R = never>(
  target: Target,
  ref: IdempotencyRef | undefined,
  work: WorkOrPreparation<A, E, E2, R>,
  encoding: Encoding = PLAIN,
): Effect.Effect<Outcome<A>, E | E2 | RequestRefusal.IdempotencyKeyReused | StoreUnavailable, R | PgClient.PgClient> =>
  Effect.isEffect(work) ? commitPrepared(target, ref, work, encoding) : commitWork(target, ref, work, encoding)

const commitWork = <A, E>(
  { account_id, store }: Target,
  ref: IdempotencyRef | undefined,
  work: Work<A, E>,
  encoding: Encoding,
) => {
  if (ref === undefined)
    return Effect.map(store.transact({ ...work, account_id }), (answer) => ({ answer, isReplayed: false }))
  const encode = (answer: A) => encoding.seal(ref, Buffer.from(JSON.stringify(answer)))
  return Effect.mapBoth(store.transactKeyed<A, E>({ ...work, account_id, idempotency: { ...ref, encode } }), {
    onSuccess: (committed) =>
      committed._tag === "Committed"
        ? { answer: committed.answer, isReplayed: false }
        : replayed<A>(ref, committed.storedAnswer, encoding),
    onFailure: (error) => (error instanceof IdempotencyKeyReused ? new RequestRefusal.IdempotencyKeyReused() : error),
  })
}

/** How an answer is stored. */
interface Encoding {
  readonly seal: (ref: IdempotencyRef, bytes: Uint8Array) => Uint8Array
  readonly open: (ref: IdempotencyRef, bytes: Uint8Array) => Uint8Array
}
const PLAIN: Encoding = { seal: (_, bytes) => bytes, open: (_, bytes) => bytes }

const commitPrepared = Effect.fnUntraced(function* <A, E, E2, R>(
  target: Target,
  ref: IdempotencyRef | undefined,
  prepare: Effect.Effect<Work<A, E>, E2, R>,
  encoding: Encoding,
) {
  const stored = ref === undefined ? undefined : yield* IdempotentWork.storedAnswer(ref, yield* NewIds.now)
  if (ref === undefined || stored === undefined) return yield* commitWork(target, ref, yield* prepare, encoding)
  if (stored.fingerprint !== ref.fingerprint) return yield* new RequestRefusal.IdempotencyKeyReused()
  return replayed<A>(ref, stored.answer, encoding)
})

const replayed = <A>(ref: IdempotencyRef, stored: Uint8Array, { open }: Encoding): Outcome<A> => ({
  answer: JSON.parse(Buffer.from(open(ref, stored)).toString("utf8")) as A,
  isReplayed: true,
})

interface ReplayHeaders {
  readonly "idempotent-replayed"?: "true"
}

const response = <A>({ answer, isReplayed }: Outcome<A>) =>
  HttpApiSchema.withHeaders<A, ReplayHeaders>({
    body: answer,
    headers: isReplayed ? { "idempotent-replayed": "true" } : {},
  })

/**
 * Returns the idempotency key of a request, if it has one. The fingerprint covers the request and, where it would
 * change the answer, the domain that the key is bound to and the caller: another caller's request is a different one, and
 * is refused with 422.
 */
const refOf = (
  { account_id, domain, translated }: Pick<Target, "account_id" | "domain" | "translated">,
  { caller, endpoint, headers, params, payload }: Call,
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
