import type * as SourceCounts from "@waybill/store/sources/SourceCounts"
import { Effect, Semaphore } from "effect"
import { type StoreUnavailable, unlessAway } from "@waybill/store/postgres/StoreUnavailable"

/** Mails of a limit that a process claims at once: a share, so that others get some, and a maximum. */
export const BLOCK_SHARE = 50
export const MAX_BLOCK = 100

/** The counts of all processes. */
export interface Counts {
  readonly claim: (key: SourceCounts.CountKey, mails: number, limit: number) => Effect.Effect<number, StoreUnavailable>
  readonly report: (reports: ReadonlyArray<SourceCounts.Report>) => Effect.Effect<void, StoreUnavailable>
}

interface Entry {
  readonly key: SourceCounts.CountKey
  readonly turn: Semaphore.Semaphore
  /** Claimed mails that were not taken. */
  left: number
  /** Mails taken that were not reported. */
  sent: number
  wasUsed: boolean
  /** Nothing more was left for this process when it claimed last. */
  isUsedUp: boolean
}

export interface SourceBudget {
  /** Takes up to `mails`, and returns how many; `undefined` if the counts cannot be read. No limit needs no claim. */
  readonly take: (
    key: SourceCounts.CountKey,
    limit: number | undefined,
    mails: number,
  ) => Effect.Effect<number | undefined>
  readonly giveBack: (key: SourceCounts.CountKey, limit: number | undefined, mails: number) => void
  /** Reports what was sent, and gives back what was not used since the last call; all of it if `all`. */
  readonly flush: (all?: boolean) => Effect.Effect<void>
}

/** Counts mails of this process in memory. A limit is kept exactly over all processes, since its mails are claimed first. */
export const make = (counts: Counts): SourceBudget => {
  const entries = new Map<string, Entry>()
  const entryOf = (key: SourceCounts.CountKey): Entry => {
    const name = `${key.address} ${key.day} ${key.provider}`
    const existing = entries.get(name)
    if (existing !== undefined) return existing
    const unused = { left: 0, sent: 0, wasUsed: true, isUsedUp: false }
    const entry: Entry = { key, turn: Semaphore.makeUnsafe(1), ...unused }
    entries.set(name, entry)
    return entry
  }
  const takeLeft = (entry: Entry, mails: number): number => {
    const taken = Math.min(entry.left, mails)
    entry.left -= taken
    entry.sent += taken
    if (taken > 0) entry.wasUsed = true
    return taken
  }
  const claim = Effect.fnUntraced(function* (entry: Entry, limit: number, mails: number) {
    if (entry.left < mails && !entry.isUsedUp) {
      const wanted = Math.max(mails - entry.left, Math.min(MAX_BLOCK, Math.ceil(limit / BLOCK_SHARE)))
      const granted = yield* counts.claim(entry.key, wanted, limit)
      entry.left += granted
      entry.isUsedUp = granted < wanted
    }
    return takeLeft(entry, mails)
  })

  const take: SourceBudget["take"] = (key, limit, mails) => {
    const entry = entryOf(key)
    if (limit === undefined) {
      entry.sent += mails
      return Effect.succeed(mails)
    }
    if (entry.left >= mails || entry.isUsedUp) return Effect.sync(() => takeLeft(entry, mails))
    return entry.turn
      .withPermit(claim(entry, limit, mails))
      .pipe(
        Effect.catchCause((cause) =>
          Effect.as(
            unlessAway(Effect.logWarning("mails of a source address could not be claimed", { ...key }, cause), cause),
            undefined,
          ),
        ),
      )
  }

  const giveBack: SourceBudget["giveBack"] = (key, limit, mails) => {
    const entry = entryOf(key)
    entry.sent -= mails
    // Mails without a limit were not claimed.
    if (limit !== undefined) entry.left += mails
  }

  const flush: SourceBudget["flush"] = (all = false) =>
    Effect.suspend(() => {
      const newest = Math.max(...[...entries.values()].map(({ key }) => key.day))
      const reports: Array<SourceCounts.Report> = []
      for (const [name, entry] of entries) {
        const isOver = entry.key.day < newest
        const unused = all || isOver || !entry.wasUsed ? entry.left : 0
        if (unused > 0 || entry.sent !== 0) reports.push({ ...entry.key, sent: entry.sent, unused })
        else if (isOver) entries.delete(name)
        entry.left -= unused
        entry.sent = 0
        entry.wasUsed = false
        entry.isUsedUp = false
      }
      return counts.report(reports).pipe(
        Effect.catchCause((cause) => {
          for (const { sent, unused, ...key } of reports) {
            const entry = entryOf(key)
            entry.sent += sent
            entry.left += unused
          }
          return unlessAway(
            Effect.logWarning("counts of source addresses could not be written; they will be later", cause),
            cause,
          )
        }),
      )
    })
  return { take, giveBack, flush }
}
