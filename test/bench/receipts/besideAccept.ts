import * as Processes from "../accept/Processes.ts"
import * as QuietTurns from "../report/QuietTurns.ts"
import * as Measure from "../report/Measure.ts"
import * as World from "../../support/world/World.ts"

const WITHOUT = "without the signed log"
const WITH = "with it, built by another process"
const AGAIN = "without it, another server"
const settings = { WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }

/**
 * Measures sends to a server whose events another process puts into the signed log, against two servers without one. It rests
 * between the turns and so is always behind: it takes all of the time that it may.
 */
export const besideAccept = async () => {
  const beside = (databaseUrl: string) => Processes.start("../receipts/worker.ts", { DATABASE_URL: databaseUrl })
  const { lines, results, turnsOf } = await QuietTurns.take([
    { name: WITHOUT, settings },
    { name: WITH, settings, beside },
    { name: AGAIN, settings },
  ])
  const rate = Measure.ratio(results, WITH, WITHOUT)
  const cost = QuietTurns.ratioOf("server", turnsOf(WITH), turnsOf(WITHOUT), turnsOf(AGAIN))
  const noise = {
    rate: Measure.ratio(results, AGAIN, WITHOUT),
    cost: QuietTurns.ratioOf("server", turnsOf(AGAIN), turnsOf(WITHOUT)),
  }
  const findings: ReadonlyArray<Measure.Finding> = [
    { what: "sends with the signed log against sends without", measured: rate, unit: "times", atLeast: 0.99 },
    {
      what: "processor time of the API for a send, with it against without",
      measured: cost,
      unit: "times",
      atMost: 1.01,
    },
    { what: "sends to two servers without it", measured: noise.rate, unit: "times" },
    { what: "processor time of the API for a send, of two servers without it", measured: noise.cost, unit: "times" },
  ]
  return {
    accept: { results, rate, cost, noise },
    findings,
    lines: [
      ...lines,
      `Sends a second with the log against those without: ${rate.median.toFixed(3)}x.`,
      `Processor time of the API for a send: ${QuietTurns.described(cost)}.`,
      `Of one server without it against the other: ${noise.rate.median.toFixed(3)}x the sends, ${QuietTurns.described(noise.cost)} the processor time.`,
    ],
  }
}
