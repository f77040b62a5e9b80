import { Effect, PartitionedSemaphore, Semaphore } from "effect"

interface Own {
  readonly slots: Semaphore.Semaphore
  users: number
}

/** Runs work in a slot of its owner. */
export type FairSlots = (owner: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Makes slots for slow work that others cause, such as a request to their server. An owner never has more than `perOwner` of
 * them, so that others find one while all of this owner's work hangs. Owners that wait take turns.
 */
export const make = ({ all, perOwner }: { readonly all: number; readonly perOwner: number }): FairSlots => {
  const shared = PartitionedSemaphore.makeUnsafe<string>({ permits: all })
  const owners = new Map<string, Own>()
  const enter = (owner: string) => {
    const own = owners.get(owner) ?? { slots: Semaphore.makeUnsafe(perOwner), users: 0 }
    owners.set(owner, own)
    own.users++
    return own
  }
  const leave = (owner: string, own: Own) => {
    if (--own.users === 0) owners.delete(owner)
  }
  return (owner) => (work) =>
    Effect.acquireUseRelease(
      Effect.sync(() => enter(owner)),
      ({ slots }) => slots.withPermit(shared.withPermit(owner)(work)),
      (own) => Effect.sync(() => leave(owner, own)),
    )
}
