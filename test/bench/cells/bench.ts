// npm run bench -- cells: POST /v1/email/send from 64 connections, in turns on one cell, on four cells of one Postgres, and,
// where WAYBILL_TEST_CITUS_URL names a Citus cluster, on four cells of its nodes. First the mail is only accepted, then
// also signed and delivered to a mail server of the benchmark by the same process.
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import * as Processes from "../accept/Processes.ts"
import * as CpuMeter from "../report/CpuMeter.ts"
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
import { FOUR, layouts, ONE } from "./layouts.ts"

const ROUNDS = 5
const WARM_UP_ACCEPTED = 12_000
const WARM_UP_DELIVERED = 4_000
const WARM_UP_AT_MOST_MILLIS = 15_000

/** Lets the process compile its code; what this costs is not measured. */
const warmUp = async ({ cpu, round }: Contender, messages: number): Promise<void> => {
  const end = performance.now() + WARM_UP_AT_MOST_MILLIS
  for (let done = 0; done < messages && performance.now() < end;) done += (await round()).done
  cpu.reset()
}

const table = (results: ReadonlyArray<Measure.Result>, contenders: ReadonlyArray<Contender>) =>
  Measure.table(
    ["", "a second", "least", "most", "process µs", "Postgres or coordinator", "other nodes"],
    results.map(({ name, perSecond }, nth) => [
      name,
      ...[perSecond.median, perSecond.least, perSecond.most].map(Measure.rate),
      ...CpuMeter.columns(contenders[nth]?.cpu.micros() ?? {}),
    ]),
  )

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
  const accepts: Array<Contender> = []
  const delivers: Array<Contender> = []
  for (const layout of await layouts()) {
    accepts.push(await accepting(layout, load, home))
    delivers.push(await delivering(layout, load, home, sink))
  }
  const environment = await TemporaryServer.environment(await Held.held(TemporaryServer.temporaryServer()))
  for (const each of accepts) await warmUp(each, WARM_UP_ACCEPTED)
  for (const each of delivers) await warmUp(each, WARM_UP_DELIVERED)
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
    of.map((result, nth) => ({ ...result, micros: contenders[nth]?.cpu.micros() }))
  Measure.answer(
    {
      connections: CONNECTIONS,
      rounds: ROUNDS,
      environment,
      accepted: withCpu(accepted, accepts),
      delivered: withCpu(delivered, delivers),
    },
    [
      `${CONNECTIONS} connections with a key each, ${ROUNDS} rounds in turns; processor time is that of a message.`,
      TemporaryServer.describe(environment),
      "",
      `Accepted, for ${ACCEPT_MILLIS / 1000} s`,
      table(accepted, accepts),
      "",
      `End to end: accepted for ${DELIVER_MILLIS / 1000} s, signed with RSA-2048, relayed, and recorded`,
      table(delivered, delivers),
    ].join("\n"),
    [
      {
        what: "accept, four cells against one",
        measured: Measure.ratio(accepted, FOUR, ONE),
        unit: "times",
        atLeast: 0.5,
      },
      { what: "end to end, four cells against one", measured: Measure.ratio(delivered, FOUR, ONE), unit: "times" },
    ],
  )
} finally {
  await Held.releaseAll()
}
