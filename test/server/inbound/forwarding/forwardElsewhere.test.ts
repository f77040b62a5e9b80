import * as Account from "@waybill/domain/account/Account"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InboundContent from "@waybill/store/content/InboundContent"
import * as Retention from "@waybill/store/erasure/Retention"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as TimeTravel from "@waybill/store/operations/TimeTravel"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Databases from "@waybill/store/routing/Databases"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ReturningMail from "../../../../apps/server/src/links/ReturningMail.ts"
import * as NewIds from "../../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { followLog } from "../../../support/postgres/followLog.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import { arrive } from "../../../support/world/arrive.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"
import * as World from "../../../support/world/World.ts"

const MAIL = { from: "Ana <ana@example.org>", to: "hi@shop.test", subject: "Order", text: "Hi" }
const ALONE = { noticedAfter: Duration.millis(100) }

/** An account with mail whose forwards are delivered, bounced, refused and pending. That of the pending ones is large. */
const forwarding = Effect.gen(function* () {
  const { account, call } = yield* signUp({ domains: ["shop.test"] })
  const { url } = yield* Database.Fresh
  const server = yield* SmtpServer.listen({
    script: ({ line, phase }) =>
      phase === "rcpt" && line.includes("gone@") ? "550 5.1.1 There is nobody here" : undefined,
  })
  const { forwarder } = yield* ReturningMail.of("mx.waybill.example", "in.waybill.example")
  const deliver = Layer.build(World.worker(url, { relay: World.relay(server) }, { forwarder }))
  const show = (id: string) => Effect.map(call("GET", `/v1/inbound/${id}`), ({ json }) => json)
  const sql = yield* Sql
  const deliveries = Effect.flatMap(
    Databases.ofAccount(account, sql`SELECT FROM outbox WHERE account_id = ${account} AND kind = 'delivery'`),
    (rows) => Effect.succeed(rows.length),
  )
  const delivered = Effect.scoped(
    Effect.andThen(
      deliver,
      World.until(deliveries, (left) => left === 0),
    ),
  )

  yield* call("POST", "/v1/inbound/routes", { action: { type: "forward", to: ["bo@example.com"] } })
  yield* call("POST", "/v1/inbound/routes", { action: { type: "forward", to: ["gone@example.com"] } })
  const done = yield* arrive(account, MAIL)
  yield* call("POST", `/v1/inbound/${done}/forward`, { to: "cy@example.com" })
  yield* delivered
  const text = "A long line of text.\r\n".repeat((3 * InboundContent.PIECE_BYTES) / 22)
  const pending = yield* arrive(account, { ...MAIL, subject: "Large", text })
  yield* call("POST", `/v1/inbound/${pending}/forward`, { to: "cy@example.com" })
  return { account, call, delivered, server, show, done, pending, text }
})

interface Shown {
  readonly result: string
  readonly email_id: string
  readonly reason: string | null
}

const resultsOf = ({ forwards, routes }: { readonly forwards: Array<Shown>; readonly routes: Array<Shown> }) =>
  [...routes, ...forwards].map(({ reason, result }) => (reason === null ? result : reason))

const DONE = ["delivered", "bounced", "delivered"]
/** A target that bounced is not sent to again. */
const PENDING = ["pending", "all_recipients_suppressed", "pending"]

/** Rows of an account in the first cell, as text. */
const rowsOf = (database: Database.Database, account: string, table: string) =>
  Effect.gen(function* () {
    const sql = yield* Sql
    const rows = yield* sql<{ readonly text: string }>`
      SELECT t::text AS text FROM ${sql(table)} t
      WHERE account_id::text IN (${account}, id_key(${account})::text) ORDER BY 1`
    return rows.map(({ text }) => text)
  }).pipe(Effect.provide(Database.layerOf(database)), Effect.orDie)

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })("forwards", (it) => {
  it.effect("are moved with their account, and those that are pending are delivered from its new cell", function* () {
    const { account, delivered, done, pending, server, show, text } = yield* forwarding
    assert.deepStrictEqual([resultsOf(yield* show(done)), resultsOf(yield* show(pending))], [DONE, PENDING])
    const before = [yield* show(done), yield* show(pending)]
    yield* CellSchema.make("cell_b")
    yield* AccountMove.move(account as AccountId, "cell_b", ALONE)
    assert.deepStrictEqual([yield* show(done), yield* show(pending)], before)
    const sql = yield* Sql
    const expire = Effect.andThen(
      sql`UPDATE inbound_content SET expires_at = now() - interval '1 day' WHERE account_id = ${account}`,
      InboundContent.expire(),
    )
    // Only that of the mail whose forwards are done.
    assert.strictEqual(yield* inCell("cell_b", expire), 1)
    yield* delivered
    assert.deepStrictEqual(resultsOf(yield* show(pending)), ["delivered", "all_recipients_suppressed", "delivered"])
    const sent = server.mails.filter(({ bytes }) => bytes.includes("subject: Large"))
    assert.deepStrictEqual(sent.map(({ to }) => to.join()).toSorted(), ["bo@example.com", "cy@example.com"])
    for (const { bytes } of sent) assert.isTrue(bytes.includes(text))
    assert.isAbove(yield* inCell("cell_b", InboundContent.expire()), 3)
  })

  it.effect("are in an exported log, and as they were wherever it is imported", function* () {
    const { account, done, pending, show } = yield* forwarding
    const here = yield* Database.Fresh
    const there = yield* Database.freshDatabase
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => fs.mkdtemp(join(tmpdir(), "waybill-forwards-"))),
      (path) => Effect.promise(() => fs.rm(path, { recursive: true })),
    )
    const file = join(folder, "log.jsonl")
    const on = Effect.fnUntraced(function* (database: Database.Database, ...words: ReadonlyArray<string>) {
      const { errors, exit, output } = yield* CommandLine.typeOn(database, ...words)
      assert.strictEqual(CommandLine.codeOf(exit), 0, `${output}${errors}`)
    })
    yield* on(here, "events", "export", file)
    yield* on(there, "events", "import", file)
    for (const table of ["inbound", "inbound_routes", "email_log"])
      assert.deepStrictEqual(
        [table, yield* rowsOf(there, account, table)],
        [table, yield* rowsOf(here, account, table)],
      )
    for (const name of ["inbound", "email_log"]) {
      yield* on(here, "projections", "verify", name)
      yield* on(there, "projections", "verify", name)
    }
    const deliveries = (rows: ReadonlyArray<string>) => rows.filter((row) => row.includes(",delivery,")).length
    assert.strictEqual(
      deliveries(yield* rowsOf(there, account, "outbox")),
      deliveries(yield* rowsOf(here, account, "outbox")),
    )
    assert.deepStrictEqual([resultsOf(yield* show(done)), resultsOf(yield* show(pending))], [DONE, PENDING])
    // As of the time before it was sent on by hand.
    const [whole] = (yield* TimeTravel.streams(done)).histories
    const types = whole?.events.map(({ type }) => type)
    assert.deepStrictEqual([whole?.account_id, types], [account, ["EmailReceived", "RouteApplied", "InboundForwarded"]])
    const [, routed] = whole?.events ?? []
    const [then] = (yield* TimeTravel.streams(done, routed?.recorded_at as Timestamp.Timestamp)).histories
    assert.strictEqual(then?.events.length, 2)
  })

  it.effect("say so once retention has removed their emails", function* () {
    const { account, call } = yield* signUp({ domains: ["shop.test"] })
    yield* call("POST", "/v1/inbound/routes", { action: { type: "forward", to: ["bo@example.com"] } })
    const id = yield* arrive(account, MAIL)
    const show = Effect.map(call("GET", `/v1/inbound/${id}`), ({ json }) => json)
    const [{ email_id }] = (yield* show).routes
    yield* call("POST", `/v1/email/${email_id}/cancel`)
    assert.deepStrictEqual(resultsOf(yield* show), ["canceled"])
    const { commit } = yield* EventStore
    const keeping = Account.changeKeeping(yield* NewIds.now, { log_days: 7, delivery_days: 7 })
    yield* Effect.orDie(commit(Account, { account_id: account as AccountId, stream_id: account }, keeping))
    yield* followLog
    const later = Effect.andThen(TestClock.adjust(Duration.days(10_000 * 5)), Retention.expire())
    assert.isAbove((yield* Effect.provide(later, TestClock.layer())).messages, 0)
    assert.deepStrictEqual(resultsOf(yield* show), ["removed"])
  })
})
