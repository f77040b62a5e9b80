import { Effect } from "effect"

interface Place {
  readonly account: string
  readonly size: number
  isInside: boolean
  enter: () => void
}

/**
 * Room in memory that accounts share. Beside its first piece, an account is let in only while it leaves as much free as it
 * then holds: however many have slow servers, some is left for the next. What waits is let in account by account.
 */
export const make = (size: number) => {
  let free = size
  const held = new Map<string, number>()
  /** In the order of their turns. */
  const lines = new Map<string, ReadonlyArray<Place>>()

  const next = (): Place | undefined => {
    for (const [account, [first]] of lines) {
      if (first === undefined) continue
      const own = held.get(account) ?? 0
      if (own > 0 && own + first.size > free - first.size) continue
      // Nobody overtakes an account that has nothing inside, or small pieces would keep its large one out for ever.
      return first.size <= free ? first : undefined
    }
    return undefined
  }

  const leaveLine = (place: Place): void => {
    const others = (lines.get(place.account) ?? []).filter((other) => other !== place)
    if (others.length === 0) lines.delete(place.account)
    else lines.set(place.account, others)
  }

  const hold = ({ account }: Place, more: number): void => {
    free -= more
    const holds = (held.get(account) ?? 0) + more
    if (holds === 0) held.delete(account)
    else held.set(account, holds)
  }

  const letIn = (): void => {
    for (let place = next(); place !== undefined; place = next()) {
      leaveLine(place)
      const others = lines.get(place.account)
      lines.delete(place.account)
      if (others !== undefined) lines.set(place.account, others)
      hold(place, place.size)
      place.isInside = true
      place.enter()
    }
  }

  const leave = (place: Place): void => {
    if (place.isInside) hold(place, -place.size)
    else leaveLine(place)
    letIn()
  }

  return <A, E, R>(account: string, bytes: number, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    if (bytes === 0) return work
    return Effect.suspend(() => {
      const place: Place = { account, size: Math.min(bytes, size), isInside: false, enter: () => {} }
      const inside = Effect.callback<void>((resume) => {
        place.enter = () => resume(Effect.void)
        lines.set(account, [...(lines.get(account) ?? []), place])
        letIn()
      })
      return Effect.ensuring(
        Effect.andThen(inside, work),
        Effect.sync(() => leave(place)),
      )
    })
  }
}
