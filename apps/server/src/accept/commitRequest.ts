import type * as Aggregate from "@waybill/domain/stream/Aggregate"
import type { Headers } from "@waybill/api/schemas/Idempotency"
import { IdempotencyKeyReused } from "@waybill/api/errors/RequestRefusal"
import { CurrentKey } from "@waybill/api/Authorization"
import type * as KeyReach from "@waybill/domain/account/KeyReach"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { NothingNew } from "@waybill/domain/values/Refusal"
import { EventStore } from "@waybill/store/commit/EventStore"
import type { Claim } from "@waybill/store/idempotency/Claim"
import type { AnyEvent } from "@waybill/store/commit/RecordedEvents"
import * as KeptAnswers from "@waybill/store/idempotency/KeptAnswers"
import { type Actor, Provenance } from "@waybill/store/commit/Provenance"
import { Secrets } from "@waybill/store/secrets/Secrets"
import type {
  IdempotencyKeyReused as IdempotencyKeyReusedInStore,
  LeaseLost,
  Unit,
  View,
} from "@waybill/store/commit/Commit"
import { Effect, Result } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { createHash } from "node:crypto"
import { now } from "../operate/fresh.ts"

/** What a handler was called with, as far as doing it once is concerned. */
export interface Call {
  readonly endpoint: { readonly method: string; readonly path: string }
  readonly headers?: Headers
  readonly params?: unknown
  readonly payload?: unknown
  /** Who asks, where the answer is for nobody else. */
  readonly caller?: Actor
}

type Work<A, E> = Omit<Unit<A, E>, "account_id" | "idempotency">

/** Where the work of a request is committed, and for whom. */
interface Place {
  readonly store: EventStore["Service"]
  readonly account_id: Claim["account_id"]
  /** The domain that the caller's key is bound to. */
  readonly domain: KeyReach.Bound
}

const place = Effect.gen(function* (): Effect.fn.Return<Place, never, EventStore | CurrentKey> {
  const { account_id, domain } = yield* CurrentKey
  return { store: yield* EventStore, account_id, domain }
})

/** For what may be asked twice without harm: PATCH and DELETE. */
export const commit = <A, E>(work: Work<A, E>) => Effect.flatMap(place, (at) => commitAt(at, work))

const commitAt = <A, E>({ account_id, store }: Place, work: Work<A, E>): Effect.Effect<A, E> =>
  Effect.flatMap(Effect.catch(store.transact<A, E>({ ...work, account_id }), claimsNothing<E>), (committed) =>
    committed._tag === "Committed" ? Effect.succeed(committed.answer) : Effect.die("replayed without a claim"),
  )

const claimsNothing = <E>(error: E | IdempotencyKeyReusedInStore | LeaseLost): Effect.Effect<never, E> =>
  isOf(error, "IdempotencyKeyReused") || isOf(error, "LeaseLost") ? Effect.die(error) : Effect.fail(error as E)

const isOf = (error: unknown, tag: string): boolean =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === tag

/**
 * Commits, and where the client sent an idempotency key keeps the answer in the same transaction: whoever comes with
 * that key again gets it, and nothing is decided twice.
 */
export const once = <A, E>(call: Call, work: Work<A, E>) => Effect.flatMap(place, (at) => onceAt(at, call, work))

/** The same for who knows the place. */
export const onceAt = <A, E>(at: Place, call: Call, work: Work<A, E>) => enclosed(at, call, work, PLAIN)

/**
 * For work that takes looking things up, or making them: neither is done for who has been answered, since what there was to
 * find may be gone by now, and what is made would lie about unused.
 */
export const onceMade = <A, E, E2, R>(call: Call, make: Effect.Effect<Work<A, E>, E2, R>) => made(call, make, PLAIN)

/**
 * The same for an answer that shows a secret: what is kept of it is sealed, and shown again to nobody but the same key or
 * user.
 */
export const onceSealed = Effect.fnUntraced(function* <A, E, E2, R>(
  call: Call,
  make: Effect.Effect<Work<A, E>, E2, R>,
) {
  const secrets = yield* Secrets
  const { actor } = yield* Provenance
  return yield* made({ ...call, caller: actor }, make, { seal: secrets.sealAnswer, open: secrets.openAnswer })
})

interface Envelope {
  readonly seal: (claim: Claim, bytes: Uint8Array) => Uint8Array
  readonly open: (claim: Claim, bytes: Uint8Array) => Uint8Array
}
const PLAIN: Envelope = { seal: (_, bytes) => bytes, open: (_, bytes) => bytes }

const enclosed = <A, E>(at: Place, call: Call, work: Work<A, E>, envelope: Envelope) => {
  const claim = claimOf(at, call)
  return claim === undefined ? Effect.map(commitAt(at, work), fresh) : claimed(at, claim, work, envelope)
}

const made = Effect.fnUntraced(function* <A, E, E2, R>(
  call: Call,
  make: Effect.Effect<Work<A, E>, E2, R>,
  envelope: Envelope,
) {
  const at = yield* place
  const claim = claimOf(at, call)
  if (claim === undefined) return fresh(yield* commitAt(at, yield* make))
  const kept = yield* KeptAnswers.kept(claim, yield* now)
  if (kept === undefined) return yield* claimed(at, claim, yield* make, envelope)
  if (kept.fingerprint !== claim.fingerprint) return yield* new IdempotencyKeyReused()
  return again<A>(claim, kept.answer, envelope)
})

const claimed = Effect.fnUntraced(function* <A, E>(
  { account_id, store }: Place,
  claim: Claim,
  work: Work<A, E>,
  envelope: Envelope,
) {
  const encode = (answer: A) => envelope.seal(claim, Buffer.from(JSON.stringify(answer)))
  const committed = yield* store
    .transact<A, E>({ ...work, account_id, idempotency: { ...claim, encode } })
    .pipe(
      Effect.catch((error): Effect.Effect<never, E | IdempotencyKeyReused> =>
        isOf(error, "IdempotencyKeyReused") ? Effect.fail(new IdempotencyKeyReused()) : claimsNothing<E>(error),
      ),
    )
  if (committed._tag === "Committed") return fresh(committed.answer)
  return again<A>(claim, committed.kept, envelope)
})

const again = <A>(claim: Claim, kept: Uint8Array, { open }: Envelope) =>
  replayed(JSON.parse(Buffer.from(open(claim, kept)).toString("utf8")) as A)

export const fresh = <A>(body: A) => HttpApiSchema.withHeaders<A, ReplayHeaders>({ body, headers: {} })
export const replayed = <A>(body: A) =>
  HttpApiSchema.withHeaders<A, ReplayHeaders>({ body, headers: { "idempotent-replayed": "true" } })
interface ReplayHeaders {
  readonly "idempotent-replayed"?: "true"
}

/**
 * What is compared is the request, and where it could be answered otherwise to another caller that too: the domain of a
 * bound key, and who asks for a secret. A key with another binding asks for something else, and is told so by a 422.
 */
export const claimOf = (
  { account_id, domain }: Pick<Place, "account_id" | "domain">,
  { caller, endpoint, headers, params, payload }: Call,
): Claim | undefined => {
  const key = headers?.["idempotency-key"]
  if (key === undefined) return undefined
  const route = `${endpoint.method} ${endpoint.path.replace(/^\/v1/u, "")}`
  const asker = { ...(domain === null ? {} : { domain }), ...(caller === undefined ? {} : { caller }) }
  return { account_id, route, key, fingerprint: fingerprint({ params, payload, ...asker }) }
}

/** Equal for equal requests, whatever the order of their fields and the spaces between them. */
const fingerprint = (request: unknown): string =>
  createHash("sha256").update(JSON.stringify(request, inOrder)).digest("hex")

const inOrder = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

interface Decider<State, Event extends AnyEvent> extends Aggregate.Aggregate<State, Event> {}

/** The most common work: one decision about one stream. What changes nothing is answered like what changed something. */
export const about = <State, Event extends AnyEvent, E, A>(
  aggregate: Decider<State, Event>,
  id: string,
  decide: (now: Timestamp.Timestamp, view: View) => Aggregate.Decide<State, Event, E | NothingNew>,
  answer: (state: State, version: number, now: Timestamp.Timestamp) => A,
  options: Pick<Unit<A, E>, "needs"> & { readonly fresh?: true } = {},
): Work<A, Exclude<E, NothingNew>> => {
  const erased = aggregate as never
  return {
    streams: [{ aggregate: erased, id, ...(options.fresh === true ? { fresh: true } : {}) }],
    ...(options.needs === undefined ? {} : { needs: options.needs }),
    decide: (view) => {
      const state = view.state<State>(erased, id)
      const now = view.now as Timestamp.Timestamp
      const version = view.version(id)
      const decided = decide(now, view)(state)
      if (Result.isSuccess(decided)) {
        const events = decided.success
        const after = events.reduce<State>((before, event) => aggregate.evolve(before, event), state)
        return Result.succeed({
          append: [{ aggregate: erased, id, events }],
          answer: answer(after, version + events.length, now),
        })
      }
      const refusal = decided.failure
      return isOf(refusal, "NothingNew")
        ? Result.succeed({ append: [], answer: answer(state, version, now) })
        : Result.fail(refusal as Exclude<E, NothingNew>)
    },
  }
}
