// Sends in turns with the request log and without it. The log is written beside the answers, so its cost is the processor time of
// the server and of Postgres for a send. A second server without the log shows how much two equal servers differ.
import * as QuietTurns from "./report/QuietTurns.ts"
import * as Held from "./report/Held.ts"
import * as Measure from "./report/Measure.ts"

const WITHOUT = "without it"
const WITH = "with the request log"
const AGAIN = "without it, another server"

try {
  const { counts, environment, lines, results, turnsOf } = await QuietTurns.take([
    { name: WITHOUT, settings: { REQUEST_LOG_DAYS: "0" } },
    { name: WITH, settings: { REQUEST_LOG_DAYS: "7" } },
    { name: AGAIN, settings: { REQUEST_LOG_DAYS: "0" } },
  ])
  const cost = QuietTurns.ratioOf("both", turnsOf(WITH), turnsOf(WITHOUT), turnsOf(AGAIN))
  const noise = QuietTurns.ratioOf("both", turnsOf(AGAIN), turnsOf(WITHOUT))
  Measure.answer(
    { ...counts, environment, results, cost, noise },
    [
      ...lines,
      `Processor time of a send with the log against one without: ${QuietTurns.described(cost)}.`,
      `Of one server without it against the other: ${QuietTurns.described(noise)}.`,
    ].join("\n"),
    [
      {
        what: "sends with the request log against sends without",
        measured: Measure.ratio(results, WITH, WITHOUT),
        unit: "times",
        atLeast: 0.97,
      },
      {
        what: "processor time of a send with the request log against one without",
        measured: cost,
        unit: "times",
        atMost: 1.03,
      },
      { what: "the same of two servers without it", measured: noise, unit: "times" },
    ],
  )
} finally {
  await Held.releaseAll()
}
