// npm run bench -- cells: POST /v1/email/send from 64 connections for each cell, in turns on one cell, on four cells of one
// Postgres, on four cells with a server each beside that of home, and, where WAYBILL_TEST_CITUS_URL names a Citus cluster, on
// four cells of its nodes. First the mail is only accepted, then also signed and delivered to a mail server of the benchmark by
// the same process; --accept leaves that out. All of them share this machine: the processor time of a message counts, not the rate.
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { sleep } from "../deliver/node.ts"
import * as Processes from "../accept/Processes.ts"
import * as Held from "../report/Held.ts"
import * as Measure from "../report/Measure.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import {
  ACCEPT_MILLIS,
  accepting,
  CONNECTIONS,
  type Contender,
  DELIVER_MILLIS,
  delivering,
  startSink,
} from "./contenders.ts"
import { layouts, NODES, ONE, ONE_OF_FOUR, SCHEMAS, SERVERS } from "./layouts.ts"

const ROUNDS = 5
const isAcceptOnly = process.argv.includes("--accept")
/** Time in which is measured what processes and servers do without messages; it is subtracted. */
const REST_MILLIS = 10_000
const WARM_UP_ACCEPTED = 12_000
const WARM_UP_DELIVERED = 4_000
const WARM_UP_AT_MOST_MILLIS = 15_000
/**
 * Time after which the relay of `ONE_OF_FOUR` takes a message: ten connections then carry the 110 a second that each of four
 * cells has on two cores. The fewer messages a second, the fewer share a claim and a commit, wherever a cell is.
 */
const SLOW_RELAY_MILLIS = 90

/** Lets the process compile its code; what this costs is not measured. */
const warmUp = async ({ cpu, round }: Contender, messages: number): Promise<void> => {
  const end = performance.now() + WARM_UP_AT_MOST_MILLIS
  for (let done = 0; done < messages && performance.now() < end;) done += (await round()).done
  cpu.reset()
}

const table = (results: ReadonlyArray<Measure.Result>, contenders: ReadonlyArray<Contender>) =>
  Measure.table(
    ["µs of a message", "a second", "process", "its server", "home beside it"],
    results.map(({ name, perSecond }, nth) => [
      name,
      Measure.rate(perSecond.median),
      ...(contenders[nth]?.cpu.means() ?? []).map((micros) => micros.toFixed(1)),
    ]),
  )

/** Aims for a layout against one cell. The first server has work with no message of other cells. */
const AIMS = [
  { layout: SCHEMAS, process: 1.1, servers: undefined, home: undefined },
  { layout: SERVERS, process: 1.1, servers: 1.1, home: 1 },
  { layout: NODES, process: 1.1, servers: 1.8, home: 1 },
] as const

/**
 * Compares layouts with one cell, by the cost of a message over all rounds. Where one cell was also measured at the rate of each of
 * four, the aim of their servers is held against that: the same batches.
 */
const findings = (what: string, contenders: ReadonlyArray<Contender>): ReadonlyArray<Measure.Finding> => {
  const costs = (layout: string) => contenders.find(({ name }) => name === layout)?.cpu.means()
  const [ofProcess = 0, ofServer = 0] = costs(ONE) ?? []
  const [, atTheirRate] = costs(ONE_OF_FOUR) ?? []
  return AIMS.flatMap(({ layout, ...aims }) => {
    const own = costs(layout)
    if (own === undefined) return []
    const [process = 0, servers = 0, home = 0] = own
    const times = (name: string, cost: number, atMost: number | undefined): Measure.Finding => ({
      what: `${what}, ${layout}: ${name}`,
      measured: Measure.once(cost),
      unit: "times",
      ...(atMost === undefined ? {} : { atMost }),
    })
    return [
      times("process", process / ofProcess, aims.process),
      times("servers", servers / ofServer, atTheirRate === undefined ? aims.servers : undefined),
      ...(atTheirRate === undefined || aims.servers === undefined
        ? []
        : [times("servers, at equal rate", servers / atTheirRate, aims.servers)]),
      ...(aims.home === undefined
        ? []
        : [{ what: `${what}, ${layout}: home`, measured: Measure.once(home), unit: "µs" as const, atMost: aims.home }]),
    ]
  })
}

try {
  const home = await Held.acquire(
    () => fs.mkdtemp(path.join(os.tmpdir(), "waybill-cells-")),
    (folder) => fs.rm(folder, { recursive: true, force: true }),
  )
  const load = await Held.acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  const sink = await startSink()
  const slowSink = await startSink(SLOW_RELAY_MILLIS)
  const accepts: Array<Contender> = []
  const delivers: Array<Contender> = []
  for (const layout of await layouts()) {
    accepts.push(await accepting(layout, load, home))
    if (isAcceptOnly) continue
    delivers.push(await delivering(layout, load, home, sink))
    if (layout.name === ONE) delivers.push(await delivering({ ...layout, name: ONE_OF_FOUR }, load, home, slowSink))
  }
  const environment = await TemporaryServer.environment(await Held.held(TemporaryServer.temporaryServer()))
  for (const each of accepts) await warmUp(each, WARM_UP_ACCEPTED)
  for (const each of delivers) await warmUp(each, WARM_UP_DELIVERED)
  // All rest at the same time, as all do beside the rounds of one.
  await Promise.all([...accepts, ...delivers].map(({ cpu }) => cpu.rest(() => sleep(REST_MILLIS))))
  const loads = new Map([...accepts, ...delivers].map((each) => [each, new Array<Measure.Load>()]))
  for (let nth = 0; nth < ROUNDS; nth++) {
    // Rotates the order, so that no contender always runs after the same one and pays for its cleanup.
    const turn = nth % 2 === 0 ? [...loads] : [...loads].toReversed()
    for (const [{ round }, rounds] of turn) rounds.push(await round())
  }
  const resultsOf = (contenders: ReadonlyArray<Contender>) =>
    contenders.map((each) => Measure.resultOf(each.name, loads.get(each) ?? []))
  const accepted = resultsOf(accepts)
  const delivered = resultsOf(delivers)
  const withCpu = (of: ReadonlyArray<Measure.Result>, contenders: ReadonlyArray<Contender>) =>
    of.map((result, nth) => ({ ...result, micros: contenders[nth]?.cpu.micros(), means: contenders[nth]?.cpu.means() }))
  const all = [...findings("accept", accepts), ...findings("end to end", delivers)]
  Measure.answer(
    {
      connections: CONNECTIONS,
      rounds: ROUNDS,
      environment,
      accepted: withCpu(accepted, accepts),
      delivered: withCpu(delivered, delivers),
    },
    [
      `${CONNECTIONS} connections with a key each for each cell, ${ROUNDS} rounds in turns; processor time is that of a message, over all rounds, without what rest costs.`,
      TemporaryServer.describe(environment),
      ...(accepts.some(({ name }) => name === NODES)
        ? []
        : ["Left out: four cells on nodes of Citus, because WAYBILL_TEST_CITUS_URL names no cluster."]),
      "",
      `Accepted, for ${ACCEPT_MILLIS / 1000} s`,
      table(accepted, accepts),
      ...(isAcceptOnly
        ? []
        : [
            "",
            `End to end: accepted for ${DELIVER_MILLIS / 1000} s, signed with RSA-2048, relayed, and recorded`,
            table(delivered, delivers),
          ]),
      "",
      Measure.findingsTable(all),
    ].join("\n"),
    all,
  )
} finally {
  await Held.releaseAll()
}
