import * as Account from "@waybill/domain/account/Account"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmailStatsFollower from "@waybill/store/statistics/EmailStatsFollower"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Follower from "@waybill/store/feed/Follower"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Swap from "@waybill/store/rebuild/Swap"
import { Effect, Layer, Redacted } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { progressLine } from "../../../apps/server/src/cli/Output.ts"
import * as ProjectionCommands from "../../../apps/server/src/cli/commands/ProjectionCommands.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { runToEnd, WaybillCommand } from "../../support/process/service.ts"
import { openedMail, send } from "../commit/commits.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { replayUrls } from "../../support/cells/testCell.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)
const TIMEOUT = { timeout: 120_000 }

const environment = Effect.map(Database.Fresh, ({ url }) => ({
  DATABASE_URL: Redacted.value(url),
  WAYBILL_DATA: NOWHERE,
}))
const waybill = CommandLine.toEnd

const linesOf = (output: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []))

const execute = <A extends object>(statement: (sql: Sql) => Effect.Effect<ReadonlyArray<A>, unknown>) =>
  Effect.flatMap(Replay, ({ sql }) => Effect.orDie(statement(sql)))

/** Process ids of all rebuild sessions, including the one that queries. */
const replaying = Effect.map(
  execute<{ readonly pid: number }>(
    (sql) => sql`
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name IN ('waybill cli', 'waybill replay')`,
  ),
  (rows) => rows.map(({ pid }) => pid),
)

describe("rebuild progress", () => {
  const half = { name: "email_log", version: 2, phase: "folding", events: 1_500, total: 3_000 } as const

  it("is a line with a bar, rate and remaining time, which a terminal overwrites", () => {
    const folding = { ...half, events_per_second: 500, eta_seconds: 3 }
    const line = `email_log v2 ${"█".repeat(12)}${"·".repeat(12)} 1,500 of 3,000 events, 500/s, folding, 3 s to go`
    assert.strictEqual(ProjectionCommands.lineOf(folding), line)
    assert.strictEqual(progressLine(line, false, false), `${line}\n`)
    assert.strictEqual(progressLine(line, false, true), `\r\u001b[K${line}`)
    const done = { ...half, phase: "done", events: 3_000, events_per_second: 400, eta_seconds: null } as const
    assert.strictEqual(
      progressLine(ProjectionCommands.lineOf(done), true, true),
      `\r\u001b[Kemail_log v2 ${"█".repeat(24)} 3,000 of 3,000 events, 400/s, done\n`,
    )
  })

  it("is a full bar if there is nothing to fold, and never more than full", () => {
    const bar = (events: number, total: number) =>
      /█*/u.exec(
        ProjectionCommands.lineOf({ ...half, events, total, events_per_second: 0, eta_seconds: null }).slice(13),
      )?.[0].length
    assert.deepStrictEqual([bar(0, 0), bar(9, 3), bar(0, 3)], [24, 24, 0])
  })
})

layer(Store, { excludeTestServices: true })("waybill projections", (it) => {
  it.effect(
    "resumes after a kill and folds nothing twice",
    function* () {
      yield* openedMail(1_000)
      const env = yield* environment
      const ours = yield* replaying
      const killed = new WaybillCommand(["projections", "rebuild", "email_log", "--throttle", "400", "--json"], env)
      // Killed within a slice.
      yield* Effect.promise(() => killed.waitForOutput('"phase":"folding"'))
      while (
        (yield* execute<{ readonly n: bigint }>(
          (sql) => sql`SELECT events AS n FROM projection_versions WHERE state = 'building'`,
        ))[0]?.n === 0n
      );
      yield* Effect.promise(() => killed.stop("SIGKILL"))
      // Its last statement may still be running.
      const theirs = Effect.map(replaying, (pids) => pids.filter((pid) => !ours.includes(pid)))
      yield* Effect.repeat(theirs, { until: (pids) => pids.length === 0 })
      const [before] = yield* execute<{ readonly events: bigint; readonly rows: bigint }>(
        (sql) => sql`
            SELECT events, (SELECT count(*) FROM email_log_v2) AS rows FROM projection_versions
            WHERE state = 'building'`,
      )
      const events = Number(before?.events)
      assert.isAbove(events, 0)
      assert.isBelow(events, 2_000)
      assert.strictEqual(Number(before?.rows), events / 2)
      // The server may not have noticed the killed process yet.
      let again = yield* waybill("projections", "rebuild", "email_log", "--json")
      while (again.output.includes("another process is working")) {
        again = yield* waybill("projections", "rebuild", "email_log", "--json")
      }
      assert.strictEqual(again.code, 0, again.output)
      const lines = linesOf(again.output)
      assert.strictEqual(lines[0]?.["events"], events)
      assert.deepInclude(lines.at(-1), { name: "email_log", version: 2, events: 2_000 })
      for (const line of lines.slice(0, -1))
        assert.containsAllKeys(line, ["phase", "events", "total", "events_per_second", "eta_seconds"])
      assert.strictEqual((yield* waybill("projections", "swap", "email_log")).code, 0)
      const verified = yield* waybill("projections", "verify", "email_log")
      assert.include(verified.output, "email_log matches the log: 1000 rows, 64 checksums compared.")
      assert.strictEqual(verified.code, 0)
    },
    TIMEOUT,
  )

  it.effect(
    "lists versions, and exits with 3 and the row's key if a row differs from the log",
    function* () {
      const [row] = yield* execute<{ readonly id: string }>(
        (sql) => sql`
            UPDATE email_log SET status = 4 WHERE id = (SELECT id FROM email_log ORDER BY id LIMIT 1)
            RETURNING id_of('msg', id) AS id`,
      )
      const verified = yield* waybill("projections", "verify", "email_log")
      assert.strictEqual(verified.code, 3)
      assert.include(verified.output, "1 rows differ, in 1 of 64 checksums:")
      assert.include(verified.output, `id=${row?.id}`)
      assert.include(verified.output, "1 rows of email_log do not match the log.")
      const status = yield* waybill("projections", "status", "--json")
      const found = JSON.parse(status.output) as ReadonlyArray<Readonly<Record<string, unknown>>>
      assert.deepStrictEqual(
        found.flatMap((each) => (each["name"] === "email_log" ? [[each["version"], each["state"]]] : [])),
        [
          [1, "kept"],
          [2, "live"],
        ],
      )
      assert.deepInclude(found.at(-1), { name: "email_stats", state: "following", position: 0 })
      const env = yield* environment
      // The progress is written past the console.
      const rebuilt = yield* Effect.promise(() => runToEnd(["projections", "rebuild", "email_log"], env))
      assert.strictEqual(rebuilt.code, 0)
      assert.match(rebuilt.output, /^email_log v\d █{24} 2,000 of 2,000 events, [\d,]+\/s, done$/mu)
      assert.strictEqual((yield* waybill("projections", "swap", "email_log")).code, 0)
      assert.strictEqual((yield* waybill("projections", "verify", "email_log")).code, 0)
      const dropped = yield* waybill("projections", "drop", "email_log", "1")
      assert.include(dropped.output, "Dropped version 1 of email_log.")
      const refused = yield* waybill("projections", "drop", "email_log", "1")
      assert.deepStrictEqual([refused.code, refused.output.includes("has no version 1")], [1, true])
    },
    TIMEOUT,
  )

  it.effect(
    "verifies and repairs statistics too",
    function* () {
      const sql = yield* Sql
      while ((yield* Follower.step(EmailStatsFollower.follower)).events > 0);
      yield* sql`
          UPDATE email_stats SET count = 9
          WHERE (account_id, tag, measure) = (SELECT min(account_id), '', 'accepted' FROM email_stats)`
      const verified = yield* waybill("projections", "verify", "email_stats")
      assert.strictEqual(verified.code, 3)
      assert.include(verified.output, "1 rows differ, in 1 of 64 checksums:")
      assert.match(verified.output, /live .*"count": ?9\b/u)
      const rebuilt = yield* waybill("projections", "rebuild", "email_stats", "--json")
      assert.deepInclude(linesOf(rebuilt.output).at(-1), { name: "email_stats", version: 2, events: 2_000 })
      assert.strictEqual((yield* waybill("projections", "swap", "email_stats")).code, 0)
      assert.strictEqual((yield* waybill("projections", "verify", "email_stats")).code, 0)
      const status = yield* waybill("projections", "status", "--json")
      const found = JSON.parse(status.output) as ReadonlyArray<Readonly<Record<string, unknown>>>
      assert.deepStrictEqual(
        found.flatMap((each) => (each["name"] === "email_stats" ? [[each["version"], each["state"]]] : [])),
        [
          [1, "kept"],
          [2, "following"],
        ],
      )
    },
    TIMEOUT,
  )

  it.effect(
    "verifies monthly usage too, and reports the months that the log no longer holds completely",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const { commit, transact } = yield* EventStore
        const account_id = id("AccountId")
        const ref = { account_id, stream_id: account_id }
        const at = Timestamp.Timestamp.make("2020-01-21T09:00:00.000Z")
        yield* commit(Account, ref, Account.create(at, account_id, "Acme", "free"))
        yield* commit(Account, ref, Account.changeKeeping(at, { log_days: 30, delivery_days: 30 }))
        yield* transact(send(account_id, { needs: { month: "2020-01" } }, { created_at: at }))
        // The mail above was written without counting.
        yield* Rebuild.rebuild("monthly_usage", { release: "test" })
        yield* Swap.swap("monthly_usage", false)
        yield* sql`UPDATE monthly_usage SET accepted = 9 WHERE account_id = (SELECT min(account_id) FROM monthly_usage)`
        const { code, output } = yield* waybill("projections", "verify", "monthly_usage")
        assert.strictEqual(code, 3, output)
        assert.include(output, "1 rows differ, in 1 of 64 checksums:")
        assert.match(output, /live .*"accepted": ?9\b/u)
        assert.include(output, "1 rows could not be checked")
      }).pipe(Effect.orDie),
    TIMEOUT,
  )
})
