import type { PgClient } from "@effect/sql-pg"
import { Unauthorized } from "@waybill/api/errors/RequestRefusal"
import * as Scope from "@waybill/domain/account/Scope"
import * as Standings from "@waybill/store/admission/Standings"
import { Context, Duration, Effect, Exit, Latch, Layer } from "effect"
import type { Admitted } from "../http/middleware/Admitted.ts"

/** How often the keys and sessions of requests that wait or stream are looked at: one statement for all of them. */
export const LOOK_EVERY = Duration.millis(400)
const TROUBLE_PAUSE = Duration.seconds(1)

type Refused = Unauthorized | Scope.MissingScope

/** What a request under way rests on, and what it was let in for. */
export interface Ground {
  readonly admitted: Admitted
  /** `undefined` where any key will do. */
  readonly scope: Scope.Scope | undefined
}

/** Tells requests under way that their key, its scope, or their member's session was revoked, on whatever node. */
export class Revocations extends Context.Service<
  Revocations,
  {
    /** Fails if the ground of a request is gone by now. */
    readonly check: (ground: Ground) => Effect.Effect<void, Refused>
    /** Never ends while the ground holds, and fails within a second of its end. */
    readonly revoked: (ground: Ground) => Effect.Effect<never, Refused>
  }
>()("@waybill/server/Revocations") {
  static readonly layer = Layer.effect(
    Revocations,
    Effect.suspend(() => make),
  )
}

/** The ground of the request under way; the handlers of the API find it here. */
export const CurrentGround = Context.Reference<Ground | undefined>("@waybill/server/Revocations/CurrentGround", {
  defaultValue: () => undefined,
})

/** Never ends while the request under way may go on, and fails within a second of the end of that. */
export const revoked = Effect.gen(function* () {
  const { revoked } = yield* Revocations
  const ground = yield* CurrentGround
  return ground === undefined ? Effect.never : revoked(ground)
})

/** Waits for as long as the request under way may. */
export const whileAdmitted = <A, E, R>(waiting: Effect.Effect<A, E, R>) =>
  Effect.flatMap(revoked, (ended) => Effect.raceFirst(waiting, ended))

interface Waiting {
  readonly ground: Ground
  readonly resume: (exit: Exit.Exit<never, Refused>) => void
}

const make = Effect.gen(function* () {
  const services = yield* Effect.context<PgClient.PgClient>()
  const look = (bearers: ReadonlyArray<Standings.Bearer>) => Effect.provideContext(Standings.look(bearers), services)
  const waiting = new Set<Waiting>()
  const somebody = yield* Latch.make()

  const watch = Effect.gen(function* () {
    yield* somebody.await
    while (waiting.size > 0) {
      yield* Effect.sleep(LOOK_EVERY)
      const bearers = new Map([...waiting].map(({ ground }) => [Standings.nameOf(bearerOf(ground)), bearerOf(ground)]))
      const standings = yield* look([...bearers.values()])
      for (const each of waiting) {
        const name = Standings.nameOf(bearerOf(each.ground))
        // One that came while the statement was under way is in the next.
        const refusal = bearers.has(name) ? refusalOf(each.ground, standings.get(name)) : undefined
        if (refusal !== undefined) each.resume(Exit.fail(refusal))
      }
    }
    somebody.closeUnsafe()
  })
  yield* watch.pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logWarning("revocations could not be looked up; open streams stay open until they can", cause),
        Effect.sleep(TROUBLE_PAUSE),
      ),
    ),
    Effect.forever,
    Effect.forkScoped,
  )

  return Revocations.of({
    check: (ground) =>
      Effect.gen(function* () {
        const bearer = bearerOf(ground)
        const refusal = refusalOf(ground, (yield* look([bearer])).get(Standings.nameOf(bearer)))
        if (refusal !== undefined) return yield* refusal
      }),
    revoked: (ground) =>
      Effect.callback((resume) => {
        const each: Waiting = { ground, resume: (exit) => resume(exit) }
        waiting.add(each)
        somebody.openUnsafe()
        return Effect.sync(() => waiting.delete(each))
      }),
  })
})

const bearerOf = ({ admitted }: Ground): Standings.Bearer =>
  "key" in admitted
    ? { kind: "key", account_id: admitted.key.account_id, id: admitted.key.id }
    : { kind: "session", account_id: admitted.user.account_id, id: admitted.session_id }

const refusalOf = ({ admitted, scope }: Ground, standing: Standings.Standing | undefined): Refused | undefined => {
  const isLess = standing === undefined || ("user" in admitted && admitted.user.operator && !standing.operator)
  if (isLess) return new Unauthorized({ why: "key" in admitted ? "revoked" : "missing" })
  return scope === undefined || Scope.permits(standing.scopes, scope)
    ? undefined
    : new Scope.MissingScope({ required_scope: scope })
}
