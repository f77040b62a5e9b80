import type { PgClient } from "@effect/sql-pg"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Livemode from "@waybill/domain/account/Livemode"
import { permits } from "@waybill/domain/account/permits"
import * as Scope from "@waybill/domain/account/Scope"
import * as PerDatabase from "@waybill/store/routing/PerDatabase"
import * as Standings from "@waybill/store/admission/Standings"
import { Context, Duration, Effect, Exit, Latch, Layer } from "effect"
import { repeatWork, type StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import type { Admitted } from "../requests/Admitted.ts"

/** Interval at which the keys and sessions of waiting and streaming requests are checked: one query for all of them. */
export const CHECK_EVERY = Duration.millis(400)
const ERROR_PAUSE = Duration.seconds(1)

type Refused = RequestRefusal.Unauthorized | Scope.MissingScope

/** The credentials of a request in progress and the scope that it was admitted for. */
export interface Grant {
  readonly admitted: Admitted
  /** `undefined` if every scope is sufficient. */
  readonly scope: Scope.Scope | undefined
}

/** Reports to requests in progress that their key, its scope or their member's session was revoked, on any node. */
export class Revocations extends Context.Service<
  Revocations,
  {
    /** Fails if the grant of a request is no longer valid. */
    readonly check: (grant: Grant) => Effect.Effect<void, Refused | StoreUnavailable>
    /** Fails within a second after the grant became invalid; never succeeds. */
    readonly revoked: (grant: Grant) => Effect.Effect<never, Refused | StoreUnavailable>
  }
>()("@waybill/server/live/Revocations") {
  static readonly layer = Layer.effect(
    Revocations,
    Effect.suspend(() => make),
  )
}

/** Grant of the request in progress, for API handlers. A wait without one would outlive its key. */
export const CurrentGrant = Context.Reference<Grant>("@waybill/server/live/Revocations/CurrentGrant", {
  defaultValue: () => {
    throw new Error("no endpoint is being called")
  },
})

/** Fails within a second after the request in progress lost its grant; never succeeds. */
export const revoked = Effect.gen(function* () {
  const { revoked } = yield* Revocations
  return revoked(yield* CurrentGrant)
})

/** Runs a wait until the request in progress loses its grant. */
export const whileAdmitted = <A, E, R>(waiting: Effect.Effect<A, E, R>) =>
  Effect.flatMap(revoked, (ended) => Effect.raceFirst(waiting, ended))

interface WaitingRequest {
  readonly grant: Grant
  readonly resume: (exit: Exit.Exit<never, Refused>) => void
}

const make = Effect.gen(function* () {
  const services = yield* Effect.context<PgClient.PgClient>()
  const waiting = yield* PerDatabase.make(makeWaiting)

  return Revocations.of({
    check: (grant) =>
      Effect.gen(function* () {
        const standing = yield* Effect.provideContext(Standings.findOne(bearerOf(grant)), services)
        const refusal = refusalOf(grant, standing)
        if (refusal !== undefined) return yield* refusal
      }),
    revoked: (grant) => Effect.flatMap(waiting.of(bearerOf(grant).account_id), ({ revoked }) => revoked(grant)),
  })
})

/** Requests in progress of one database, which are checked together. */
const makeWaiting = Effect.gen(function* () {
  const services = yield* Effect.context<PgClient.PgClient>()
  const query = (bearers: ReadonlyArray<Standings.Bearer>) => Effect.provideContext(Standings.find(bearers), services)
  const waiting = new Set<WaitingRequest>()
  const hasWaiting = yield* Latch.make()

  const checkWhileWaiting = Effect.gen(function* () {
    yield* hasWaiting.await
    while (waiting.size > 0) {
      yield* Effect.sleep(CHECK_EVERY)
      const bearers = new Map([...waiting].map(({ grant }) => [Standings.nameOf(bearerOf(grant)), bearerOf(grant)]))
      const { later, standings } = yield* query([...bearers.values()])
      for (const request of waiting) {
        const name = Standings.nameOf(bearerOf(request.grant))
        // A request that was added during the query is checked by the next one.
        const isChecked = bearers.has(name) && !later.has(name)
        const refusal = isChecked ? refusalOf(request.grant, standings.get(name)) : undefined
        if (refusal !== undefined) request.resume(Exit.fail(refusal))
      }
    }
    hasWaiting.closeUnsafe()
    return Duration.zero
  })
  const failed = "revocations could not be checked; open streams stay open until they can"
  yield* repeatWork(checkWhileWaiting, { failed, retryAfter: ERROR_PAUSE })

  return {
    /** Fails within a second after the grant became invalid; never succeeds. */
    revoked: (grant: Grant): Effect.Effect<never, Refused> =>
      Effect.callback((resume) => {
        const request: WaitingRequest = { grant, resume: (exit) => resume(exit) }
        waiting.add(request)
        hasWaiting.openUnsafe()
        return Effect.sync(() => waiting.delete(request))
      }),
  }
})

const bearerOf = ({ admitted }: Grant): Standings.Bearer =>
  "key" in admitted
    ? { kind: "key", account_id: Livemode.liveAccountOf(admitted.key.account_id), id: admitted.key.id }
    : { kind: "session", account_id: admitted.user.account_id, id: admitted.session_id }

const refusalOf = ({ admitted, scope }: Grant, standing: Standings.Standing | undefined): Refused | undefined => {
  if ("key" in admitted) {
    const ended = standing === undefined ? "revoked" : standing.ended
    if (ended !== null) return new RequestRefusal.Unauthorized({ why: ended })
  } else if (standing === undefined || (admitted.user.operator && !standing.operator))
    return new RequestRefusal.Unauthorized({ why: "missing" })
  return scope === undefined || permits(standing?.scopes ?? [], scope)
    ? undefined
    : new Scope.MissingScope({ required_scope: scope })
}
