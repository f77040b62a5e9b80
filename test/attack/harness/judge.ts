import { dice } from "./dice.ts"
import { ask } from "./http.ts"
import {
  type Attack,
  MEMORY_MIB,
  type Outcome,
  type Scenario,
  SCENARIO_MS,
  STALL_MS,
  sleep,
  within,
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
  readonly answered: string
  /** Expectations that failed; empty if all held. */
  readonly broken: ReadonlyArray<string>
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
  readonly nth: number
}

const MIB = 1024 * 1024
const SETTLE_MS = { short: 200, long: 2_000 }
const ALIVE_MS = 5_000
const FIRST_NETWORK = 20
const ADDRESSES = 250

/** Returns an address of 127.0.0.0/8. On Linux all of them are this machine; elsewhere only one is. */
const addressOf = (nth: number) => (client: number) =>
  process.platform === "linux"
    ? `127.${FIRST_NETWORK + nth}.${Math.floor(client / ADDRESSES)}.${1 + (client % ADDRESSES)}`
    : undefined

export const boundsOf = ({ bounds }: Scenario) => ({ stall_ms: STALL_MS, memory_mib: MEMORY_MIB, ...bounds })

/** Maximum number of runs of an attack that failed only by time, which may be due to a busy machine. */
const LOOKS = 3
const isOfTime = (one: string): boolean => one.startsWith("stall") || one.startsWith("slow")

/**
 * Runs a scenario, again if only time failed: a delay of the machine does not repeat, one of the service does. Memory
 * is judged at once, because its growth stays.
 */
export const judge = async (scenario: Scenario, round: Round): Promise<Row> => {
  let row = await once(scenario, round)
  for (let looks = 1; looks < LOOKS; looks++) {
    if (row.isDead || row.broken.length === 0 || !row.broken.every(isOfTime)) return row
    const next = await once(scenario, round)
    if (next.isDead || next.broken.length <= row.broken.length) row = next
  }
  return row
}

const once = async (scenario: Scenario, { form, idle, nth, seed, target, watch }: Round): Promise<Row> => {
  const attack: Attack = {
    target,
    dice: dice(seed + nth),
    size: (short, long) => (form === "short" ? short : long),
    from: addressOf(nth),
  }
  const limit = SCENARIO_MS[form]
  const began = performance.now()
  await watch.begin()
  const late: Outcome = { answered: "no end", broken: [`not over within ${limit} ms`] }
  const outcome = await within(limit, attempt(scenario, attack), late)
  const figures = await watch.end()
  const took_ms = performance.now() - began
  const alive = await ask(target.http, "GET", "/healthz", { within_ms: ALIVE_MS })
  await sleep(SETTLE_MS[form])
  const isDead = alive.status !== 200
  const broken = [
    ...outcome.broken,
    ...beyond(scenario, figures, idle),
    ...(isDead ? [`no answer for ${ALIVE_MS} ms afterwards`] : []),
  ]
  const rssAfter = rssBytes(target.pid)
  return { scenario, figures, idle, rssAfter, took_ms, answered: outcome.answered, broken, isDead }
}

const attempt = async (scenario: Scenario, attack: Attack): Promise<Outcome> => {
  try {
    return await scenario.run(attack)
  } catch (error) {
    return { answered: "", broken: [`the attack itself failed: ${String(error)}`] }
  }
}

const beyond = (scenario: Scenario, figures: Figures, idle: number): ReadonlyArray<string> => {
  const { memory_mib, stall_ms } = boundsOf(scenario)
  const noise = Math.max(idle, figures.noise)
  const grown = (figures.rssPeak - figures.rssBefore) / MIB
  return [
    ...(figures.ownStall - noise > stall_ms
      ? [`stall of ${Math.round(figures.ownStall)} ms, more than ${stall_ms} over a noise of ${Math.round(noise)}`]
      : []),
    ...(grown > memory_mib ? [`${Math.round(grown)} MiB more memory, bound ${memory_mib}`] : []),
  ]
}
