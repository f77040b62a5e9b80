import type { Dice } from "./dice.ts"
import type { Target } from "./Target.ts"

export interface Attack {
  readonly target: Target
  readonly dice: Dice
  /** The short form is part of the test suite; `npm run attack` runs the long one. */
  readonly size: (short: number, long: number) => number
  /** A loopback address of this scenario's own for each client, where the system has more than one. */
  readonly from: (client: number) => string | undefined
}

export interface Outcome {
  /** The answers of the service in a few words, for the table. */
  readonly answered: string
  /** Expectations of the scenario, beside stall and memory, that were not met; one of time begins with `slow`. */
  readonly broken: ReadonlyArray<string>
}

export interface Bounds {
  /** Longest wait of `/healthz` beyond the noise of the machine. */
  readonly stall_ms: number
  /** Growth of the resident memory at its peak. */
  readonly memory_mib: number
}

/** One attack on a started service. */
export interface Scenario {
  readonly name: string
  /** The load, in the words of the table. */
  readonly sends: string
  readonly bounds?: Partial<Bounds>
  readonly run: (attack: Attack) => Promise<Outcome>
}

/** Issue 15: no single mail and no client makes others wait longer. */
export const STALL_MS = 250
/** Memory that a busy service allocates between two garbage collections. */
export const MEMORY_MIB = 200
/** Time limit of one scenario; a longer one hangs. */
export const SCENARIO_MS = { short: 15_000, long: 45_000 } as const

/** The texts of the expectations that were not met. */
export const broken = (
  expectations: ReadonlyArray<readonly [holds: boolean, otherwise: string]>,
): ReadonlyArray<string> => expectations.flatMap(([holds, otherwise]) => (holds ? [] : [otherwise]))

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** The value of a promise, or the fallback once the time is over; the promise is left to itself. */
export const within = async <A, B>(ms: number, promise: Promise<A>, fallback: B): Promise<A | B> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<B>((resolve) => (timer = setTimeout(() => resolve(fallback), ms)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Counts equal answers, as in `200 ×3, 503 ×7`. */
export const counted = (answers: ReadonlyArray<string | number>): string => {
  const counts = new Map<string, number>()
  for (const answer of answers) counts.set(String(answer), (counts.get(String(answer)) ?? 0) + 1)
  return [...counts].map(([answer, times]) => (times === 1 ? answer : `${answer} ×${times}`)).join(", ")
}
