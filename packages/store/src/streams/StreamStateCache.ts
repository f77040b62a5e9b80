import type { Folded } from "./StreamState.ts"
import type { AnyAggregate, Read } from "../commit/RecordedEvents.ts"

/** Events of one stream that a flight reads. A longer one is read beside the flights, and what it folds to is kept. */
export const MAX_HISTORY_IN_FLIGHT = 128
/** States that a process keeps of long streams; the one that was asked for longest ago goes first. */
export const MAX_KEPT_STATES = 10_000
/** And how long they are together at most, as JSON. */
export const MAX_KEPT_CHARS = 16 * 1024 * 1024
/** A longer one is not kept, but folded anew each time. */
export const MAX_KEPT_STATE_CHARS = 4 * 1024 * 1024

export interface Limits {
  readonly history: number
  readonly states: number
  readonly chars: number
  readonly stateChars: number
}

const LIMITS: Limits = {
  history: MAX_HISTORY_IN_FLIGHT,
  states: MAX_KEPT_STATES,
  chars: MAX_KEPT_CHARS,
  stateChars: MAX_KEPT_STATE_CHARS,
}

/**
 * What long streams have come to, as far as this process has read them. Nothing here is believed: whoever uses it reads on
 * from the last event that it knows, and sees by that whether it is still true.
 */
export interface KeptStates {
  readonly history: number
  readonly find: (key: string, aggregate: AnyAggregate) => Folded | undefined
  /** Measures the state, which takes as long as writing it down: not in a flight. */
  readonly keep: (key: string, folded: Folded) => void
  /** What is kept has gone on by these rows. */
  readonly goOn: (key: string, folded: Folded, rows: ReadonlyArray<Read>) => void
  readonly forget: (key: string) => void
}

interface Kept {
  readonly folded: Folded
  readonly chars: number
}

export const make = (limits: Limits = LIMITS): KeptStates => {
  const kept = new Map<string, Kept>()
  let chars = 0

  const forget = (key: string): void => {
    chars -= kept.get(key)?.chars ?? 0
    kept.delete(key)
  }
  /** Behind all others, which go first. */
  const put = (key: string, entry: Kept): void => {
    forget(key)
    if (entry.chars > limits.stateChars) return
    kept.set(key, entry)
    chars += entry.chars
    for (const oldest of kept.keys()) {
      if (kept.size <= limits.states && chars <= limits.chars) break
      forget(oldest)
    }
  }

  return {
    history: limits.history,
    find: (key, aggregate) => {
      const entry = kept.get(key)
      if (entry?.folded.aggregate !== aggregate) return undefined
      kept.delete(key)
      kept.set(key, entry)
      return entry.folded
    },
    keep: (key, folded) => {
      if (folded.version > limits.history) put(key, { folded, chars: JSON.stringify(folded.state).length })
    },
    goOn: (key, folded, rows) => {
      const entry = kept.get(key)
      // A state grows by no more than what has happened: soon too long by this count, it is measured anew.
      const grown = rows.slice(1).reduce((sum, { data }) => sum + JSON.stringify(data).length, 0)
      if (entry !== undefined) put(key, { folded, chars: entry.chars + grown })
    },
    forget,
  }
}
