// npm run bench -- receipts [--leaves 1000000] [--accept] [--json]: what the signed log costs a message, in processor time and
// bytes; how long a leaf waits for its signature at 500 messages a second; how long a receipt takes; and whether requests to send
// are as fast beside it, with --accept that alone.
import "effect/schema/SchemaJITCompiler/enable"
import { Effect, Exit, type Layer, Redacted, Scope } from "effect"
import { parseArgs } from "node:util"
import * as World from "../../support/world/World.ts"
import { write } from "../logs/events.ts"
import * as Held from "../report/Held.ts"
import * as Measure from "../report/Measure.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import { besideAccept } from "./besideAccept.ts"
import { build, prove } from "./build.ts"
import { PACED_PER_SECOND, pace } from "./pace.ts"

const { values } = parseArgs({
  options: { leaves: { type: "string", default: "1000000" }, accept: { type: "boolean" }, json: { type: "boolean" } },
})

/** Messages that are accepted and not delivered: those of 200 ms at 500 a second. */
const UNDER_WAY = 100

const tree = async (scope: Scope.Scope) => {
  const server = await Effect.runPromise(Scope.provide(TemporaryServer.temporaryServer(), scope))
  const environment = await TemporaryServer.environment(server)
  const url = await TemporaryServer.freshDatabase(server)
  const services = World.services(url)
  const run = <A, E>(work: Effect.Effect<A, E, Layer.Success<typeof services> | Scope.Scope>) =>
    Effect.runPromise(work.pipe(Effect.provide(services), Effect.scoped))
  // A commit begins the first epoch of the log, without which nothing is signed.
  await run(World.account())
  const log = await write(Redacted.value(url), Number(values.leaves), UNDER_WAY)
  const { bytes, ...built } = await run(build(url, server.pid, log))
  const receipt_ms = await run(prove(url))
  const lag_ms = await run(pace(url))
  const findings: ReadonlyArray<Measure.Finding> = [
    {
      what: "bytes of a message in the signed log",
      measured: Measure.once(bytes.leaves + bytes.tiles),
      atMost: 250,
      unit: "bytes",
    },
    { what: "a receipt, p99", measured: Measure.once(receipt_ms.p99), atMost: 20, unit: "ms" },
    { what: "a leaf in a signed checkpoint, p99", measured: Measure.once(lag_ms.p99), atMost: 2_000, unit: "ms" },
  ]
  return {
    answer: { ...log, environment, summary: { ...built, bytes, receipt_ms, lag_ms } },
    findings,
    lines: [
      `${log.events.toLocaleString("en-US")} leaves of ${log.messages.toLocaleString("en-US")} messages.`,
      TemporaryServer.describe(environment),
      "",
      `Processor time of a message: ${built.ownMicros.toFixed(0)} µs of the worker (${built.hashingMicros.toFixed(0)} of them hashing), ${built.postgresMicros.toFixed(0)} µs of Postgres.`,
      `Bytes of a message: ${bytes.leaves.toFixed(0)} for its salt and leaves, ${bytes.tiles.toFixed(0)} for hashes.`,
      `A receipt: ${Measure.millis(receipt_ms.p50)} ms (p50), ${Measure.millis(receipt_ms.p99)} ms (p99).`,
      `A leaf in a signed checkpoint, at ${PACED_PER_SECOND} messages a second: ${Measure.millis(lag_ms.p50)} ms (p50), ${Measure.millis(lag_ms.p99)} ms (p99).`,
      "",
    ],
  }
}

/** Ends its server before others are measured. */
const treeAlone = async () => {
  const scope = Scope.makeUnsafe()
  try {
    return await tree(scope)
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

try {
  const built = values.accept === true ? { answer: {}, findings: [], lines: [] } : await treeAlone()
  const { accept, findings, lines } = await besideAccept()
  Measure.answer({ ...built.answer, accept }, [...built.lines, ...lines].join("\n"), [...built.findings, ...findings])
} finally {
  await Held.releaseAll()
}
