import { Duration, Effect, type Layer, Redacted, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import * as EmailFacets from "@waybill/store/readmodels/emails/EmailFacets"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it } from "../support/effectTest.ts"
import * as Database from "../support/postgres/Database.ts"
import { faultProxy } from "../support/postgres/faultProxy.ts"
import * as World from "../support/world/World.ts"
import * as SmtpServer from "../support/mail/smtpServer.ts"

const MAILS = 2_000
/** Time after which a wait fails the test. */
const HANGS = Duration.seconds(120)
const PROGRAM = fileURLToPath(new URL("../support/process/workerProcess.ts", import.meta.url))

const onNewDatabase = <E>(
  name: string,
  body: Effect.Effect<void, E, Scope.Scope | Layer.Success<typeof World.layer>>,
) => it.live(name, () => Effect.provide(Effect.scoped(body), World.layer), 4 * Duration.toMillis(HANGS))

interface Leases {
  readonly rows: number
  /** Time of the database's clock, in milliseconds, at which the first lease expires. */
  readonly ends: number
}

/** Rows that are leased now. */
const leases = Effect.gen(function* () {
  const sql = yield* Sql
  const [row = { rows: 0, ends: 0 }] = yield* Effect.orDie(sql<Leases>`
    SELECT count(*)::int AS rows, (extract(epoch FROM min(lease_until)) * 1000)::float8 AS ends
    FROM outbox WHERE lease_token IS NOT NULL`)
  return row
})

/**
 * Returns the number of lost attempts, and the time left of the leases when the last one was recorded. A dead worker's
 * rows are promised back within ten seconds, before a lease (60 s) or graphile-worker's lock (4 h) expires.
 */
const reclaimed = Effect.fnUntraced(function* ({ ends }: Leases) {
  const sql = yield* Sql
  const [row = { n: 0, at: 0 }] = yield* Effect.orDie(sql<{ readonly n: number; readonly at: number }>`
    SELECT count(*)::int AS n, (extract(epoch FROM max(recorded_at)) * 1000)::float8 AS at
    FROM events WHERE type = 'EmailAttemptLost'`)
  return { attempts: row.n, left_ms: ends - row.at }
})

/** Starts a worker in a process of its own, and kills it with the test. */
const start = (url: Redacted.Redacted, server: SmtpServer.SmtpServer, connections = 5) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const child = spawn(process.execPath, [PROGRAM, Redacted.value(url), String(server.port), String(connections)], {
        stdio: ["ignore", "pipe", "pipe"],
      })
      const errors: Array<string> = []
      child.stderr.on("data", (chunk) => errors.push(String(chunk)))
      const [ready] = await Promise.race([once(child.stdout, "data"), once(child, "exit")])
      if (!String(ready).includes("ready")) throw new Error(`the worker did not start: ${errors.join("")}`)
      return child
    }),
    (child) => Effect.promise(() => end(child, "SIGKILL")),
  )

const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  child.kill(signal)
  await once(child, "exit")
  return child.exitCode
}

const acceptMany = (count = MAILS) =>
  Effect.flatMap(World.verifiedDomain(), (from) =>
    Effect.forEach(
      Array.from({ length: count }, (_, n) => n),
      (n) => World.send(from, { to: [{ address: `user${n}@example.org` }] }),
      { concurrency: 100 },
    ),
  )

const count = (statement: (sql: Sql) => Effect.Effect<ReadonlyArray<{ readonly n: number }>, unknown>) =>
  Effect.flatMap(Sql, (sql) => Effect.map(Effect.orDie(statement(sql)), ([row]) => row?.n ?? 0))

const pending = count((sql) => sql`SELECT count(*)::int AS n FROM outbox WHERE kind = 'delivery'`)
const delivered = count(
  (sql) => sql`SELECT count(*)::int AS n FROM email_log WHERE status = ${EmailFacets.numberOf("delivered")}::smallint`,
)
const lost = count((sql) => sql`SELECT count(*)::int AS n FROM events WHERE type = 'EmailAttemptLost'`)
const messages = (...servers: ReadonlyArray<SmtpServer.SmtpServer>) =>
  new Set(servers.flatMap(({ counts }) => [...counts.keys()])).size
const duplicates = (...servers: ReadonlyArray<SmtpServer.SmtpServer>) =>
  servers.flatMap(({ counts }) => [...counts.values()]).reduce((sum, times) => sum + times, 0) - messages(...servers)
/** Starts a server that stops answering after this many messages, so that a worker is in the middle of a delivery. */
const silentAfter = (mails: number) =>
  Effect.tap(SmtpServer.listen({ keep_bytes: false }), (server) =>
    Effect.sync(() =>
      server.setScript(({ phase }) => (phase === "dot" && server.counts.size >= mails ? "store-then-hang" : undefined)),
    ),
  )
const arrived = (server: SmtpServer.SmtpServer, mails: number) =>
  World.until(
    Effect.sync(() => server.counts.size),
    (size) => size >= mails,
    HANGS,
  )

describe("delivery", () => {
  onNewDatabase(
    "survives a worker that is killed during delivery",
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      // Each worker has a server of its own, so that the killed one has undelivered messages.
      const [server, silent] = [yield* SmtpServer.listen({ keep_bytes: false }), yield* silentAfter(MAILS / 40)]
      yield* acceptMany()
      const victim = yield* start(url, silent)
      yield* arrived(silent, MAILS / 40)
      yield* start(url, server)
      yield* arrived(server, MAILS / 4)
      const sql = yield* Sql
      yield* Effect.promise(() => end(victim, "SIGKILL"))
      const held = yield* leases
      // The rows of the killed worker are free again, and it is no longer registered as a process.
      yield* World.until(
        count(() => sql`SELECT count(*)::int AS n FROM processes`),
        (processes) => processes === 1,
        HANGS,
      )
      yield* World.until(pending, (rows) => rows === 0, HANGS)
      assert.deepStrictEqual([messages(server, silent), yield* delivered], [MAILS, MAILS])
      const { attempts, left_ms } = yield* reclaimed(held)
      assert.isAbove(attempts, 0)
      assert.isAtMost(duplicates(server, silent), attempts)
      assert.isAtMost(attempts, 400)
      assert.isAbove(left_ms, 0)
    }),
  )

  onNewDatabase(
    "resumes with a new worker after the only worker was killed",
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const server = yield* silentAfter(30)
      const first = yield* start(url, server)
      yield* acceptMany(300)
      yield* arrived(server, 30)
      yield* Effect.promise(() => end(first, "SIGKILL"))
      server.setScript(undefined)
      const held = yield* leases
      yield* start(url, server)
      yield* World.until(pending, (rows) => rows === 0, HANGS)
      const { attempts, left_ms } = yield* reclaimed(held)
      assert.deepStrictEqual([attempts > 0, left_ms > 0], [true, true], `${attempts}, ${left_ms}`)
      assert.deepStrictEqual([server.counts.size, yield* delivered], [300, 300])
    }),
  )

  onNewDatabase(
    "sends nothing twice when a worker stops under load",
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen({ keep_bytes: false })
      yield* acceptMany()
      const [stopped] = yield* Effect.all([start(url, server), start(url, server)], { concurrency: "unbounded" })
      yield* arrived(server, MAILS / 4)
      const code = yield* Effect.promise(() => end(stopped, "SIGTERM")).pipe(Effect.timeout(HANGS))
      assert.strictEqual(code, 0)
      yield* World.until(pending, (rows) => rows === 0, HANGS)
      assert.deepStrictEqual(
        [server.counts.size, yield* delivered, duplicates(server), yield* lost],
        [MAILS, MAILS, 0, 0],
      )
    }),
  )

  onNewDatabase(
    "sends nothing twice when the connection to the database is cut",
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const server = yield* SmtpServer.listen({ keep_bytes: false })
      yield* acceptMany(1_000)
      const proxy = yield* faultProxy(url)
      yield* start(proxy.url, server)
      yield* arrived(server, 250)
      proxy.down()
      yield* World.until(Effect.sync(proxy.refused), (refused) => refused > 0, HANGS)
      proxy.up()
      yield* World.until(pending, (rows) => rows === 0, HANGS)
      assert.deepStrictEqual([server.counts.size, yield* delivered, duplicates(server)], [1_000, 1_000, 0])
    }),
  )
})
