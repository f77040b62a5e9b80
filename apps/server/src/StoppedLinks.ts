import * as Accounts from "@waybill/store/Accounts"
import { Context, Duration, Effect, Layer } from "effect"

/** How often a node looks whose links are stopped, which is how soon it follows them no longer. */
export const LOOK_EVERY = Duration.seconds(3)
/** A look that takes longer is given up for the next. */
export const LOOK_TIMEOUT = Duration.seconds(3)

/** The accounts whose links lead nowhere, as this node knows them: a visit asks no database. */
export class StoppedLinks extends Context.Service<
  StoppedLinks,
  {
    readonly has: (account_id: string) => boolean
  }
>()("@waybill/server/StoppedLinks") {}

export const layer = Layer.effect(
  StoppedLinks,
  Effect.gen(function* () {
    let known = new Set(yield* Accounts.withLinksStopped())
    let inTrouble = false
    const look = Accounts.withLinksStopped().pipe(
      Effect.timeout(LOOK_TIMEOUT),
      Effect.map((found) => {
        known = new Set(found)
        inTrouble = false
      }),
      // What is known holds on, and whoever reads the log need hear of it once.
      Effect.catchCause((cause) => {
        if (inTrouble) return Effect.void
        inTrouble = true
        return Effect.logWarning("whose links are stopped could not be asked; what is known holds", cause)
      }),
    )
    yield* Effect.forkScoped(Effect.forever(Effect.delay(look, LOOK_EVERY)))
    return { has: (account_id) => known.has(account_id) }
  }),
)
