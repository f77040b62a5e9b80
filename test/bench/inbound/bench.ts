// npm run bench -- inbound [--rounds 5] [--mails 2000] [--json]: mail that comes in on 32 connections, signed, of one sender.
// Waybill parses, judges and stores each before its 250; Postfix hands it to an LMTP server that throws it away, with the
// verifying milters opendkim and opendmarc, and without. All ask one DNS server on this machine. Without a program that it
// needs it ends with status 69 and says which.
import { Redacted } from "effect"
import { generateKeyPairSync } from "node:crypto"
import * as os from "node:os"
import { parseArgs } from "node:util"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Tools from "../postfix/tools.ts"
import * as Held from "../report/Held.ts"
import * as Measure from "../report/Measure.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import * as Contenders from "./contenders.ts"
import { SELECTOR, SENDER } from "./load.ts"

const { NAMES } = Contenders
/** The milters ask the resolver of the system, which has this port. */
const DNS = { host: "127.5.3.1", port: 53 }
const REST_MILLIS = 500

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    mails: { type: "string", default: "2000" },
    "warm-up": { type: "string", default: "8000" },
    json: { type: "boolean" },
  },
})
const [ROUNDS, MAILS, WARM_UP] = [Number(values.rounds), Number(values.mails), Number(values["warm-up"])]

const tools = Tools.findPostfix()
const [opendkim, opendmarc, unshare] = ["opendkim", "opendmarc", "unshare"].map(Tools.find)
if (typeof tools === "string" || opendkim === undefined || opendmarc === undefined || unshare === undefined) {
  const missing = [
    ...(typeof tools === "string" ? [tools] : []),
    ...Object.entries({ opendkim, opendmarc, unshare }).flatMap(([name, found]) =>
      found === undefined ? [`${name} is not installed (apt-get install ${name})`] : [],
    ),
  ]
  process.stderr.write(`${missing.join("; ")}; nothing was measured.\n`)
  process.exit(Measure.UNAVAILABLE)
}
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => void Held.releaseAll().finally(() => process.exit(1)))
}

interface Turn {
  /** From the first envelope to the end of the last mail: its 250, or its arrival at the sink. */
  readonly perSecond: number
  readonly acceptedPerSecond: number
  readonly ownMicros: number
  readonly helperMicros: number
  /** Load of the machine over the last minute. */
  readonly load: number
}

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const record = `v=DKIM1; k=rsa; p=${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`

try {
  const dns = await Held.acquire(
    () =>
      DnsServer.open(
        {
          [SENDER]: { TXT: ["v=spf1 ip4:127.0.0.0/8 -all"], A: ["127.0.0.1"] },
          [`${SELECTOR}._domainkey.${SENDER}`]: { TXT: [record] },
          [`_dmarc.${SENDER}`]: { TXT: ["v=DMARC1; p=reject"] },
        },
        DNS,
      ),
    ({ close }) => close(),
  )
  const postgres = await Held.held(TemporaryServer.temporaryServer())
  const send = await Contenders.load(privateKey.export({ format: "pem", type: "pkcs8" }).toString())
  const contenders = [
    await Contenders.waybill(postgres, dns.server),
    await Contenders.postfix(tools, { opendkim, opendmarc, resolver: DNS.host }),
    await Contenders.postfix(tools, undefined),
  ]
  const take = async (contender: Contenders.Contender, mails: number): Promise<Turn> => {
    const before = contender.spent()
    const { began, ended } = await send(contender.port, mails)
    const last = await contender.finished(mails, ended)
    // Processes come to rest; their processor time counts.
    await new Promise((resolve) => setTimeout(resolve, REST_MILLIS))
    const after = contender.spent()
    return {
      perSecond: (mails * 1000) / (last - began),
      acceptedPerSecond: (mails * 1000) / (ended - began),
      ownMicros: ((after.own - before.own) * 1000) / mails,
      helperMicros: ((after.helper - before.helper) * 1000) / mails,
      load: os.loadavg()[0] ?? Number.NaN,
    }
  }
  for (const contender of contenders)
    await take(contender, contender.name === NAMES.waybill ? WARM_UP : Math.min(WARM_UP, 1_000))
  const turns = new Map<string, Array<Turn>>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < ROUNDS; round++)
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed())
      turns.get(contender.name)?.push(await take(contender, MAILS))

  const of = (name: string) => turns.get(name) ?? []
  const ratio = (against: string, value: (turn: Turn) => number) =>
    Measure.spread(of(NAMES.waybill).map((turn, round) => value(turn) / value(of(against)[round] as Turn)))
  const micros = ({ helperMicros, ownMicros }: Turn) => ownMicros + helperMicros
  const rate = ({ perSecond }: Turn) => perSecond
  const findings: ReadonlyArray<Measure.Finding> = [
    {
      what: "received mail against Postfix with opendkim and opendmarc",
      measured: ratio(NAMES.milters, rate),
      unit: "times",
      atLeast: 1,
    },
    { what: "received mail against Postfix that judges nothing", measured: ratio(NAMES.postfix, rate), unit: "times" },
    {
      what: "processor time of a mail against Postfix with opendkim and opendmarc",
      measured: ratio(NAMES.milters, micros),
      unit: "times",
    },
    ...[...turns].map(([name, all]) => ({
      what: `processor time of a mail, ${name}`,
      measured: Measure.spread(all.map((turn) => micros(turn) / 1000)),
      unit: "ms" as const,
    })),
  ]
  const environment = await TemporaryServer.environment(postgres)
  const [syncs] = await TemporaryServer.execute(
    Redacted.value(postgres.adminUrl),
    "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit",
  )
  const median = (name: string, value: (turn: Turn) => number) => Measure.rate(Measure.median(of(name).map(value)))
  const loads = Measure.spread([...turns.values()].flat().map(({ load }) => load))
  Measure.answer(
    {
      environment,
      postfix: tools.version,
      opendkim: Tools.versionOf(opendkim),
      opendmarc: Tools.versionOf(opendmarc),
      syncs,
      mails: MAILS,
      rounds: ROUNDS,
      connections: Contenders.CONNECTIONS,
      load: loads,
      turns: Object.fromEntries(turns),
    },
    [
      `From the first envelope to the end of the last mail, ${Contenders.CONNECTIONS} connections, ${MAILS} mails a turn, ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      `Postfix ${tools.version}, opendkim ${Tools.versionOf(opendkim)}, opendmarc ${Tools.versionOf(opendmarc)}; load of the machine ${loads.least.toFixed(1)} to ${loads.most.toFixed(1)}.`,
      "",
      Measure.table(
        ["", "a second", "accepted", "CPU µs/mail", "of it the helper"],
        [...turns.keys()].map((name) => [
          name,
          ...[
            rate,
            ({ acceptedPerSecond }: Turn) => acceptedPerSecond,
            micros,
            ({ helperMicros }: Turn) => helperMicros,
          ].map((value) => median(name, value)),
        ]),
      ),
      "The helper is PostgreSQL, or the milters.",
      "",
      Measure.findingsTable(findings),
    ].join("\n"),
    findings,
  )
} finally {
  await Held.releaseAll()
}
