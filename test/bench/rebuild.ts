// npm run bench -- rebuild [--events 200000] [--rounds 2] [--lanes 3] [--json]: rebuild the email log from the event
// log in three ways.
import "effect/schema/SchemaJITCompiler/enable"
import * as Fill from "@waybill/store/rebuild/fill/Fill"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import { Effect, Exit, Redacted, Scope } from "effect"
import { parseArgs } from "node:util"
import * as Cpu from "./accept/Cpu.ts"
import * as Measure from "./report/Measure.ts"
import { floor } from "./rebuild/floor.ts"
import { foreground } from "./rebuild/foreground.ts"
import { write } from "./logs/events.ts"
import { rowByRow } from "./rebuild/rowByRow.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "200000" },
    rounds: { type: "string", default: "2" },
    lanes: { type: "string", default: String(Fill.DEFAULT_LANES) },
    json: { type: "boolean" },
  },
})
const EVENTS = Number(values.events)
const LANES = Number(values.lanes)
/**
 * Rounds, each with one full rebuild and the baselines. The rate of a baseline does not depend on its number of events.
 */
const ROUNDS = Number(values.rounds)
const ROW_BY_ROW_EVENTS = 4_000
/** Pairs of rounds of sends, with and without a rebuild beside them. */
const FOREGROUND_ROUNDS = 3
/** Events per second of a throttled rebuild, which leaves capacity for a busy service. */
const THROTTLE = 5_000
const MEBIBYTE = 2 ** 20

const scope = Scope.makeUnsafe()
const rateOf = async (events: number, run: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await run()
  return (events * 1000) / (performance.now() - began)
}

/** Runs one rebuild to its end, measures the memory from a quarter of the way on, and then the floor with its rows. */
const rebuild = async (url: Redacted.Redacted, events: number, postgres: number) => {
  const before = [process.cpuUsage(), Cpu.ofTree(postgres)] as const
  const held: Array<number> = []
  const marks: Array<readonly [string, number]> = []
  const report = ({ events: folded, phase }: Rebuild.Progress) =>
    Effect.sync(() => {
      if (phase === "indexing" || (phase === "folding" && folded >= events / 4))
        held.push(process.memoryUsage().rss / MEBIBYTE)
      if (marks.at(-1)?.[0] !== phase) marks.push([phase, performance.now()])
    })
  const began = performance.now()
  const { version } = await Effect.runPromise(
    Rebuild.rebuild("email_log", { release: "bench", lanes: LANES, report }).pipe(Effect.provide(Replay.layer(url))),
  )
  const millis = performance.now() - began
  const own = process.cpuUsage(before[0])
  const postgresMillis = Cpu.ofTree(postgres) - before[1]
  const floorMillis = await floor(Redacted.value(url), `email_log_v${version}`, LANES)
  const at = (phase: string) => (marks.find(([name]) => name === phase)?.[1] ?? began) - began
  await Effect.runPromise(Rebuild.drop("email_log", version).pipe(Effect.provide(Replay.layer(url))))
  return {
    rate: (events * 1000) / millis,
    floorRate: (events * 1000) / floorMillis,
    foldingRate: (events * 1000) / at("indexing"),
    seconds: millis / 1000,
    ownMicros: (own.user + own.system) / events,
    postgresMicros: (postgresMillis * 1000) / events,
    heldMebibytes: { least: Math.min(...held), most: Math.max(...held) },
  }
}

try {
  const server = await Effect.runPromise(Scope.provide(TemporaryServer.temporaryServer(), scope))
  const environment = await TemporaryServer.environment(server)
  const url = await TemporaryServer.freshDatabase(server)
  const log = await write(Redacted.value(url), EVENTS)
  const rounds: Array<Awaited<ReturnType<typeof rebuild>> & { readonly row_by_row: number }> = []
  for (let nth = 0; nth < ROUNDS; nth++) {
    const ours = await rebuild(url, log.events, server.pid)
    const single = await rateOf(ROW_BY_ROW_EVENTS, () => rowByRow(Redacted.value(url), ROW_BY_ROW_EVENTS))
    rounds.push({ ...ours, row_by_row: single })
  }
  const beside = await foreground(server, url, { throttle: THROTTLE, rounds: FOREGROUND_ROUNDS })

  const of = (pick: (round: (typeof rounds)[number]) => number) => Measure.spread(rounds.map(pick))
  const summary = {
    against_row_by_row: of(({ rate, row_by_row }) => rate / row_by_row),
    against_floor: of(({ floorRate, rate }) => rate / floorRate),
    foreground_p99_share: beside.p99Share,
  }
  const line = (name: string, { least, median, most }: Measure.Spread) => [
    name,
    ...[median, least, most].map(Measure.rate),
  ]
  const share = ({ least, median, most }: Measure.Spread) =>
    `${Measure.times(median)} (${Measure.times(least)} to ${Measure.times(most)})`
  const shareOfFloor = ({ least, median, most }: Measure.Spread) =>
    `${median.toFixed(2)}x (${least.toFixed(2)}x to ${most.toFixed(2)}x)`
  Measure.answer(
    { ...log, lanes: LANES, environment, rounds, throttle: THROTTLE, summary },
    [
      `${log.events.toLocaleString("en-US")} events of ${log.messages.toLocaleString("en-US")} messages; rounds: ${ROUNDS}.`,
      TemporaryServer.describe(environment),
      "",
      Measure.table(
        ["events a second", "median", "least", "most"],
        [
          line(
            "waybill, to its end with indexes",
            of(({ rate }) => rate),
          ),
          line(
            "  the folding of it",
            of(({ foldingRate }) => foldingRate),
          ),
          line(
            "reading, copying and indexing alone",
            of(({ floorRate }) => floorRate),
          ),
          line(
            "row by row",
            of(({ row_by_row }) => row_by_row),
          ),
        ],
      ),
      "",
      `Against row by row ${share(summary.against_row_by_row)}; ` +
        `against reading, copying and indexing alone ${shareOfFloor(summary.against_floor)}.`,
      `CPU µs an event: ${Measure.millis(of(({ ownMicros }) => ownMicros).median)} of the process, ` +
        `${Measure.millis(of(({ postgresMicros }) => postgresMicros).median)} of Postgres.`,
      `Memory of the process while it folds: ` +
        rounds
          .map(({ heldMebibytes: { least, most } }) => `${Measure.rate(least)} to ${Measure.rate(most)} MiB`)
          .join(", "),
      `A send's p99 beside a rebuild of ${Measure.rate(THROTTLE)} events a second: ` +
        `${Measure.millis(Measure.quantile(beside.rebuilding, 0.99))} ms, without one ` +
        `${Measure.millis(Measure.quantile(beside.idle, 0.99))} ms; ${share(summary.foreground_p99_share)}.`,
    ].join("\n"),
    [
      {
        what: "the email log, folded to its end",
        measured: of(({ rate }) => rate),
        unit: "a second",
        atLeast: 100_000,
      },
      { what: "against row by row", measured: summary.against_row_by_row, unit: "times", atLeast: 5 },
      { what: "against reading, copying and indexing alone", measured: summary.against_floor, unit: "times" },
      {
        what: "memory at the end of the fold against a quarter of the way",
        measured: of(({ heldMebibytes: { least, most } }) => most / least),
        unit: "times",
      },
      {
        what: "p99 of sends beside a throttled rebuild",
        measured: summary.foreground_p99_share,
        unit: "times",
        atMost: 1.5,
      },
    ],
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
