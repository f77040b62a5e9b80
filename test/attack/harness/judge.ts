import { dice } from "./dice.ts"
import { sendRequest } from "./http.ts"
import {
  type Attack,
  MEMORY_MIB,
  type Outcome,
  type Scenario,
  SCENARIO_MS,
  STALL_MS,
  sleep,
  withTimeout,
} from "./Scenario.ts"
import type { Target } from "./Target.ts"
import type { Watch } from "./Watch.ts"
import type { Figures } from "./watcher.ts"
import { rssBytes } from "./processes.ts"

/** Result of one scenario. */
export interface Row {
  readonly scenario: Scenario
  readonly figures: Figures
  readonly idle: number
  readonly rssAfter: number
  readonly took_ms: number
  readonly summary: string
  /** Expectations that failed; empty if all held. */
  readonly failures: ReadonlyArray<string>
  /** The service no longer answers and has to be restarted. */
  readonly isDead: boolean
}

export interface Round {
  readonly target: Target
  readonly watch: Watch
  readonly idle: number
  readonly seed: number
  readonly form: "short" | "long"
  /** Index of the scenario in the list, from which its addresses are derived. */
  readonly index: number
}

const MIB = 1024 * 1024
const SETTLE_MS = { short: 200, long: 2_000 }
const ALIVE_MS = 5_000
const FIRST_NETWORK = 20
const ADDRESSES = 250

/** Returns an address of 127.0.0.0/8. On Linux all of them are this machine; elsewhere only one is. */
const addressOf = (index: number) => (client: number) =>
  process.platform === "linux"
    ? `127.${FIRST_NETWORK + index}.${Math.floor(client / ADDRESSES)}.${1 + (client % ADDRESSES)}`
    : undefined

export const limitsOf = ({ bounds }: Scenario) => ({ stall_ms: STALL_MS, memory_mib: MEMORY_MIB, ...bounds })

/** Maximum number of runs of an attack that failed only by time, which may be due to a busy machine. */
const MAX_RUNS = 3
const isAboutTime = (failure: string): boolean => failure.startsWith("stall") || failure.startsWith("slow")

/**
 * Runs a scenario, again if only time failed: a delay of the machine does not repeat, one of the service does. Memory
 * is judged at once, because its growth stays.
 */
export const judge = async (scenario: Scenario, round: Round): Promise<Row> => {
  let row = await runOnce(scenario, round)
  for (let runs = 1; runs < MAX_RUNS; runs++) {
    if (row.isDead || row.failures.length === 0 || !row.failures.every(isAboutTime)) return row
    const next = await runOnce(scenario, round)
    if (next.isDead || next.failures.length <= row.failures.length) row = next
  }
  return row
}

const runOnce = async (scenario: Scenario, { form, idle, index, seed, target, watch }: Round): Promise<Row> => {
  const attack: Attack = {
    target,
    dice: dice(seed + index),
    size: (short, long) => (form === "short" ? short : long),
    from: addressOf(index),
  }
  const limit = scenario.within_ms ?? SCENARIO_MS[form]
  const startedAt = performance.now()
  await watch.begin()
  const timedOut: Outcome = { summary: "timeout", failures: [`not over within ${limit} ms`] }
  const outcome = await withTimeout(limit, runScenario(scenario, attack), timedOut)
  const figures = await watch.end()
  const took_ms = performance.now() - startedAt
  const health = await sendRequest(target.http, "GET", "/healthz", { within_ms: ALIVE_MS })
  await sleep(SETTLE_MS[form])
  const isDead = health.status !== 200
  const failures = [
    ...outcome.failures,
    ...exceeded(scenario, figures, idle),
    ...(isDead ? [`no answer for ${ALIVE_MS} ms afterwards`] : []),
  ]
  const rssAfter = rssBytes(target.pid)
  return { scenario, figures, idle, rssAfter, took_ms, summary: outcome.summary, failures, isDead }
}

const runScenario = async (scenario: Scenario, attack: Attack): Promise<Outcome> => {
  try {
    return await scenario.run(attack)
  } catch (error) {
    return { summary: "", failures: [`the attack itself failed: ${String(error)}`] }
  }
}

const exceeded = (scenario: Scenario, figures: Figures, idle: number): ReadonlyArray<string> => {
  const { memory_mib, stall_ms } = limitsOf(scenario)
  const noise = Math.max(idle, figures.noise)
  const growth = (figures.rssPeak - figures.rssBefore) / MIB
  return [
    ...(figures.ownStall - noise > stall_ms
      ? [`stall of ${Math.round(figures.ownStall)} ms, more than ${stall_ms} over a noise of ${Math.round(noise)}`]
      : []),
    ...(growth > memory_mib ? [`${Math.round(growth)} MiB more memory, bound ${memory_mib}`] : []),
  ]
}
