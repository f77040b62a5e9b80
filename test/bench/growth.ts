// npm run bench -- growth [--messages 1000000] [--json]: cost of the same work as an installation fills.
import "effect/schema/SchemaJITCompiler/enable"
import type * as EmbeddedPostgres from "@waybill/embedded-postgres/server/EmbeddedPostgres"
import * as Id from "@waybill/domain/values/Id"
import * as Database from "@waybill/store/database/Database"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { parseArgs } from "node:util"
import { Sql } from "@waybill/store/postgres/Sql"
import { child, drain, node } from "./deliver/node.ts"
import { FILTERS } from "./logs/filters.ts"
import { BEGAN_MS, emailId, write as writeMail } from "./logs/mail.ts"
import * as Measure from "./report/Measure.ts"
import { write as writeEvents } from "./logs/events.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const SIZES = [10_000, 100_000, 1_000_000]
const ROUNDS = 2
/** Size of each piece of work in a round, small beside what the installation holds. */
const MAILS = 400
const PAGES = 5
const PAGE = 20
/** Filters start in the newest fifth, so that a small installation fills the same page. */
const NEWEST = 5
/** Average number of events per message that `writeEvents` writes. */
const EVENTS_A_MESSAGE = 2.5

const { values } = parseArgs({
  options: { messages: { type: "string", default: "100000" }, json: { type: "boolean" } },
})
const most = Number(values.messages)
const sizes = SIZES.filter((size) => size <= most)
const account = Id.make("AccountId", BEGAN_MS, new Uint8Array(10))

const scope = Scope.makeUnsafe()

/** Writes a log of messages, its read model, and as many scheduled messages. */
const installation = async (postgres: EmbeddedPostgres.Running, sink: number, size: number) => {
  const url = await TemporaryServer.freshDatabase(postgres)
  const within = <A, E>(effect: Effect.Effect<A, E, PgClient.PgClient>) =>
    Effect.runPromise(Effect.provide(effect, Database.layer({ url })))
  const { events } = await writeEvents(Redacted.value(url), size * EVENTS_A_MESSAGE)
  await within(Effect.flatMap(Sql, (sql) => writeMail(sql, account, 0, size)))
  await TemporaryServer.execute(
    Redacted.value(url),
    `INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload)
     SELECT 'w' || n, 'acc' || n % 1000, 'delivery', 'w' || n, now() + make_interval(days => 1, secs => n), '{}'
     FROM generate_series(1, ${size}) AS n`,
    "VACUUM ANALYZE outbox",
  )
  const on = await node(scope, url, sink)
  const pages = Effect.gen(function* () {
    const latencies: Array<number> = []
    for (let nth = 0; nth < PAGES; nth++) {
      for (const of of Object.values(FILTERS)) {
        const message = size - 1 - ((Math.imul(nth + 1, 0x9e37_79b1) >>> 0) % Math.floor(size / NEWEST))
        const query = of(message, emailId(account, message))
        const began = performance.now()
        yield* EmailLogQuery.list({ ...query, account_id: account, limit: PAGE })
        latencies.push(performance.now() - began)
      }
    }
    return Measure.median(latencies)
  })
  const rebuild = async () => {
    const began = performance.now()
    const replaying = Effect.flatMap(Rebuild.rebuild("email_log", { release: "bench" }), ({ version }) =>
      Effect.andThen(
        Effect.sync(() => (performance.now() - began) / events),
        (millis) => Effect.as(Rebuild.drop("email_log", version), millis),
      ),
    )
    return Effect.runPromise(Effect.provide(replaying, Replay.layer(url)))
  }
  return {
    size,
    mail: async () => {
      const { acceptedPerSecond, perSecond } = await drain(on, postgres, MAILS)
      return { accept: 1000 / acceptedPerSecond, drain: 1000 / perSecond }
    },
    logs: () => within(pages),
    rebuild,
  }
}

const WORK = {
  accept: "accept a message",
  logs: "read a page of the log",
  drain: "deliver a message",
  rebuild: "fold an event of the log",
} as const
type Work = keyof typeof WORK

try {
  const postgres = await Effect.runPromise(Scope.provide(TemporaryServer.temporaryServer(), scope))
  const sink = await child(scope, "sink.ts")
  const installations = []
  for (const size of sizes) installations.push(await installation(postgres, sink.port, size))
  await TemporaryServer.execute(Redacted.value(postgres.adminUrl), "CHECKPOINT")
  const environment = await TemporaryServer.environment(postgres)

  const millis = new Map<string, Array<number>>()
  const keep = (work: Work, size: number, value: number) => {
    const name = `${work} ${size}`
    millis.set(name, [...(millis.get(name) ?? []), value])
  }
  // The first round warms up compilers and caches. A rebuild reads everything, so one is enough.
  for (let round = -1; round < ROUNDS; round++) {
    for (const each of round % 2 === 0 ? installations : installations.toReversed()) {
      const { accept, drain } = await each.mail()
      const logs = await each.logs()
      if (round < 0) continue
      keep("accept", each.size, accept)
      keep("drain", each.size, drain)
      keep("logs", each.size, logs)
      if (round === 0) keep("rebuild", each.size, await each.rebuild())
    }
  }
  const series = (Object.keys(WORK) as ReadonlyArray<Work>).map((work) => ({
    name: WORK[work],
    points: sizes.map((size) => ({ size, millis: Measure.spread(millis.get(`${work} ${size}`) ?? []) })),
  }))
  const share = ({ points }: (typeof series)[number]): Measure.Spread => {
    const [first, last] = [points[0]?.millis, points.at(-1)?.millis]
    if (first === undefined || last === undefined) throw new Error(`--messages is at least ${SIZES[0]}`)
    return { median: last.median / first.median, least: last.least / first.most, most: last.most / first.least }
  }
  const name = (size: number) => size.toLocaleString("en-US")
  Measure.answer(
    { sizes, environment, series },
    [
      "Milliseconds of each, by the messages that an installation holds (and as many more scheduled).",
      TemporaryServer.describe(environment),
      "",
      Measure.table(
        ["", ...sizes.map(name), "growth"],
        series.map((each) => [
          each.name,
          ...each.points.map(({ millis }) => millis.median.toFixed(3)),
          Measure.times(share(each).median),
        ]),
      ),
    ].join("\n"),
    series.map((each) => ({
      what: `cost to ${each.name}, ${name(sizes.at(-1) ?? 0)} messages against ${name(sizes[0] ?? 0)}`,
      measured: share(each),
      unit: "times",
    })),
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
