// npm run bench -- postfix [--rounds 5] [--mails 3000] [--processes 1|2] [--json]: from a request to the final dot at the
// next server, on 64 connections. Waybill takes requests over HTTP and signs; Postfix takes SMTP and signs nothing, or signs
// with opendkim. Without Postfix it ends with status 69; without opendkim it measures the others.
import { Redacted } from "effect"
import { parseArgs } from "node:util"
import * as Processes from "../accept/Processes.ts"
import * as Contenders from "./contenders.ts"
import * as Sink from "./Sink.ts"
import * as Tools from "./tools.ts"
import * as Turns from "./turns.ts"
import * as Held from "../report/Held.ts"
import * as Measure from "../report/Measure.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"

const { NAMES } = Contenders

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    mails: { type: "string", default: "3000" },
    processes: { type: "string", default: "1,2" },
    json: { type: "boolean" },
  },
})
const ROUNDS = Number(values.rounds)
const MAILS = Number(values.mails)

const tools = Tools.findPostfix()
if (typeof tools === "string") {
  process.stderr.write(`${tools}; nothing was measured.\n`)
  process.exit(Measure.UNAVAILABLE)
}
const opendkim = Tools.find("opendkim")
if (opendkim === undefined) {
  process.stderr.write("opendkim is not installed (apt-get install opendkim); Postfix is measured without it only.\n")
}
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => void Held.releaseAll().finally(() => process.exit(1)))
}

/** Findings about the deployment of Waybill that has the higher rate. */
const findings = (turns: Turns.Turns, own: string): ReadonlyArray<Measure.Finding> => {
  const rate = ({ perSecond }: Turns.Turn) => perSecond
  const others = [NAMES.postfix, NAMES.opendkim].filter((name) => turns.has(name))
  const milliseconds = (name: string) =>
    Measure.spread((turns.get(name) ?? []).map((turn) => Turns.spentMicros(turn) / 1000))
  const rates = (what: string, name: string, against: string, atLeast?: number): Measure.Finding => ({
    what,
    measured: Turns.ratios(turns, name, against, rate),
    unit: "times",
    ...(atLeast === undefined ? {} : { atLeast }),
  })
  const hasOpendkim = turns.has(NAMES.opendkim)
  return [
    rates("request to sink, signed, against Postfix that signs nothing", own, NAMES.postfix, 1.6),
    ...(hasOpendkim ? [rates("the same against Postfix with opendkim", own, NAMES.opendkim, 3.2)] : []),
    ...others.map((name) => ({
      what: `processor time of ${name}, against waybill, with load and sink`,
      measured: Turns.ratios(turns, name, own, Turns.allMicros),
      unit: "times" as const,
    })),
    ...[...turns.keys()].map((name) => ({
      what: `processor time of a message, ${name}`,
      measured: milliseconds(name),
      unit: "ms" as const,
    })),
  ]
}

try {
  const postgres = await Held.held(TemporaryServer.temporaryServer())
  const sink = await Sink.start()
  const load = await Held.acquire(
    async () => Processes.load(),
    ({ stop }) => stop(),
  )
  const smtpLoad = await Contenders.smtpLoad()
  const deployments = [
    ...(values.processes.includes("1") ? [NAMES.oneProcess] : []),
    ...(values.processes.includes("2") ? [NAMES.twoProcesses] : []),
  ]
  const contenders: Array<Contenders.Contender> = []
  for (const name of deployments) contenders.push(await Contenders.waybill(postgres, load, sink.port, name))
  contenders.push(await Contenders.postfix(tools, smtpLoad, sink.port, undefined))
  if (opendkim !== undefined) contenders.push(await Contenders.postfix(tools, smtpLoad, sink.port, opendkim))
  for (const contender of contenders) await Turns.warmUp(contender, sink)
  const environment = await TemporaryServer.environment(postgres)
  const [syncs] = await TemporaryServer.execute(
    Redacted.value(postgres.adminUrl),
    "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit",
  )
  const turns = await Turns.run(contenders, sink, { mails: MAILS, rounds: ROUNDS })
  const [own = NAMES.oneProcess] = deployments.toSorted(
    (a, b) =>
      Turns.median(turns, b, ({ perSecond }) => perSecond) - Turns.median(turns, a, ({ perSecond }) => perSecond),
  )
  const found = findings(turns, own)
  const versions = { postfix: tools.version, opendkim: opendkim === undefined ? null : Tools.versionOf(opendkim) }
  Measure.answer(
    {
      environment,
      ...versions,
      syncs,
      mails: MAILS,
      rounds: ROUNDS,
      connections: Contenders.CONNECTIONS,
      connections_to_sink: Contenders.TO_SINK,
      better_deployment: own,
      turns: Object.fromEntries(turns),
    },
    [
      `From the first request to the last final dot, ${Contenders.CONNECTIONS} connections, ${MAILS} messages a turn, ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      `Postfix ${versions.postfix}, opendkim ${versions.opendkim ?? "not installed"}. PostgreSQL syncs each group of commits` +
        ` (${Object.entries(syncs ?? {})
          .map(([name, value]) => `${name} = ${value}`)
          .join(", ")}), Postfix each message.`,
      "",
      Turns.table(turns),
      "The helper is PostgreSQL or opendkim.",
      "",
      `Ratios are of "${own}", which has the higher rate.`,
      Measure.findingsTable(found),
    ].join("\n"),
    found,
  )
} finally {
  await Held.releaseAll()
}
