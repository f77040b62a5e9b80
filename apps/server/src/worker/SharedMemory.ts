import { Effect } from "effect"

interface Reservation {
  readonly account: string
  readonly size: number
  isGranted: boolean
  grant: () => void
}

/**
 * A memory budget that accounts share. Beyond its first reservation, an account is granted another only if it then holds
 * no more than it leaves free, so that accounts with slow servers cannot use up the budget. Accounts take turns.
 */
export const make = (size: number) => {
  let free = size
  const held = new Map<string, number>()
  /** Waiting reservations of each account, in the order of the accounts' turns. */
  const waiting = new Map<string, ReadonlyArray<Reservation>>()

  const next = (): Reservation | undefined => {
    for (const [account, [first]] of waiting) {
      if (first === undefined) continue
      const own = held.get(account) ?? 0
      if (own > 0 && own + first.size > free - first.size) continue
      // An account that holds nothing is not overtaken, or small reservations would keep a large one waiting for ever.
      return first.size <= free ? first : undefined
    }
    return undefined
  }

  const stopWaiting = (reservation: Reservation): void => {
    const others = (waiting.get(reservation.account) ?? []).filter((other) => other !== reservation)
    if (others.length === 0) waiting.delete(reservation.account)
    else waiting.set(reservation.account, others)
  }

  const changeHeld = (account: string, by: number): void => {
    free -= by
    const holds = (held.get(account) ?? 0) + by
    if (holds === 0) held.delete(account)
    else held.set(account, holds)
  }

  const grantWaiting = (): void => {
    for (let reservation = next(); reservation !== undefined; reservation = next()) {
      const { account, size } = reservation
      stopWaiting(reservation)
      const others = waiting.get(account)
      waiting.delete(account)
      if (others !== undefined) waiting.set(account, others)
      changeHeld(account, size)
      reservation.isGranted = true
      reservation.grant()
    }
  }

  const release = (reservation: Reservation): void => {
    if (reservation.isGranted) changeHeld(reservation.account, -reservation.size)
    else stopWaiting(reservation)
    grantWaiting()
  }

  /** Runs the work once its bytes are granted. Work that needs none does not wait. */
  return <A, E, R>(account: string, bytes: number, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    if (bytes === 0) return work
    return Effect.suspend(() => {
      const reservation: Reservation = { account, size: Math.min(bytes, size), isGranted: false, grant: () => {} }
      const granted = Effect.callback<void>((resume) => {
        reservation.grant = () => resume(Effect.void)
        waiting.set(account, [...(waiting.get(account) ?? []), reservation])
        grantWaiting()
      })
      return Effect.ensuring(
        Effect.andThen(granted, work),
        Effect.sync(() => release(reservation)),
      )
    })
  }
}
