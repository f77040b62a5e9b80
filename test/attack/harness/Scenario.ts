import type { Dice } from "./dice.ts"
import type { Target } from "./Target.ts"

export interface Attack {
  readonly target: Target
  readonly dice: Dice
  /** Chooses by form: the test suite runs the short form, `npm run attack` the long one. */
  readonly size: (short: number, long: number) => number
  /** Returns a loopback address of this scenario for each client, where the system has more than one. */
  readonly from: (client: number) => string | undefined
}

export interface Outcome {
  /** Summary of the service's answers for the table. */
  readonly summary: string
  /** Expectations of the scenario that failed, besides stall and memory; one about time begins with `slow`. */
  readonly failures: ReadonlyArray<string>
}

export interface Bounds {
  /** Longest wait of `/healthz` above the noise of the machine. */
  readonly stall_ms: number
  /** Peak growth of the resident memory. */
  readonly memory_mib: number
}

/** One attack on a running service. */
export interface Scenario {
  readonly name: string
  /** Load, as the table shows it. */
  readonly load: string
  readonly bounds?: Partial<Bounds>
  /** Time limit, if another than that of its form. */
  readonly within_ms?: number
  readonly run: (attack: Attack) => Promise<Outcome>
}

/** Maximum delay that a single mail or client may cause others (issue 15). */
export const STALL_MS = 250
/** Memory that a busy service allocates between two garbage collections. */
export const MEMORY_MIB = 200
/** Time limit of one scenario; a longer one counts as hanging. */
export const SCENARIO_MS = { short: 15_000, long: 45_000 } as const

/** Returns the texts of the expectations that failed. */
export const failedExpectations = (
  expectations: ReadonlyArray<readonly [isMet: boolean, failure: string]>,
): ReadonlyArray<string> => expectations.flatMap(([isMet, failure]) => (isMet ? [] : [failure]))

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Returns the value of a promise, or the fallback after a timeout; the promise is not cancelled. */
export const withTimeout = async <A, B>(ms: number, promise: Promise<A>, fallback: B): Promise<A | B> => {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<B>((resolve) => (timer = setTimeout(() => resolve(fallback), ms)))
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

/** Counts equal answers, as in `200 ×3, 503 ×7`. */
export const summarize = (answers: ReadonlyArray<string | number>): string => {
  const counts = new Map<string, number>()
  for (const answer of answers) counts.set(String(answer), (counts.get(String(answer)) ?? 0) + 1)
  return [...counts].map(([answer, times]) => (times === 1 ? answer : `${answer} ×${times}`)).join(", ")
}
