import type * as Id from "@waybill/domain/values/Id"
import * as Follower from "@waybill/store/feed/Follower"
import * as Checkpoints from "@waybill/store/transparency/Checkpoints"
import * as LogKeys from "@waybill/store/transparency/LogKeys"
import * as LogTree from "@waybill/store/transparency/LogTree"
import * as Receipts from "@waybill/store/transparency/Receipts"
import { Effect, Redacted } from "effect"
import * as Cpu from "../accept/Cpu.ts"
import * as Measure from "../report/Measure.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"

export const BASE_URL = "https://bench.example"
const ORIGIN = Checkpoints.originOf(BASE_URL, "public")
const RECEIPTS = 500
/** Events after which the code is compiled. */
const WARM_UP = 20_000

export const query = <A>(url: Redacted.Redacted, statement: string) =>
  Effect.promise(
    async () => (await TemporaryServer.execute(Redacted.value(url), statement)) as unknown as ReadonlyArray<A>,
  )

export const quantiles = (values: ReadonlyArray<number>) => ({
  p50: Measure.quantile(values, 0.5),
  p99: Measure.quantile(values, 0.99),
})

/** Builds and signs the tree of a log, and returns what a message costs. */
export const build = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  postgres: number,
  log: { readonly messages: number; readonly events: number },
) {
  const signers = yield* yield* LogKeys.makeSigners
  for (let done = 0; done < WARM_UP;) done += (yield* Follower.step(LogTree.follower)).events
  const [before, busy, server] = [process.cpuUsage(), LogTree.busyMs(), Cpu.ofTree(postgres)]
  let events = 0
  for (let isFull = true; isFull;) {
    const step = yield* Follower.step(LogTree.follower)
    events += step.events
    ;({ isFull } = step)
    yield* Checkpoints.sign(ORIGIN, signers)
  }
  const own = process.cpuUsage(before)
  const messages = (events * log.messages) / log.events
  const cost = {
    ownMicros: (own.user + own.system) / messages,
    hashingMicros: ((LogTree.busyMs() - busy) * 1000) / messages,
    postgresMicros: ((Cpu.ofTree(postgres) - server) * 1000) / messages,
  }
  yield* query(url, "VACUUM log_leaves, log_tiles")
  const [size] = yield* query<{ readonly leaves: string; readonly tiles: string }>(
    url,
    "SELECT pg_total_relation_size('log_leaves') AS leaves, pg_total_relation_size('log_tiles') AS tiles",
  )
  return {
    ...cost,
    bytes: { leaves: Number(size?.leaves) / log.messages, tiles: Number(size?.tiles) / log.messages },
  }
})

/** Returns the time that the proofs of a receipt take. */
export const prove = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const streams = yield* query<{ readonly account_id: Id.AccountId; readonly stream_id: string }>(
    url,
    `SELECT account_id, stream_id FROM (
       SELECT DISTINCT account_id, stream_id FROM events TABLESAMPLE SYSTEM (2) WHERE stream = 'email') AS s
     ORDER BY hashtext(stream_id) LIMIT ${RECEIPTS}`,
  )
  const took: Array<number> = []
  for (const { account_id, stream_id } of streams) {
    const began = performance.now()
    const { events } = yield* Receipts.prove(account_id, stream_id)
    for (const { open } of events) open(() => false)
    took.push(performance.now() - began)
  }
  return quantiles(took)
})
