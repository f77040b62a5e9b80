import { PgClient } from "@effect/sql-pg"
import type { Address } from "@waybill/domain/values/Address"
import * as Account from "@waybill/domain/account/Account"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as Parser from "@waybill/mail/parsing/Parser"
import { ParserPool } from "@waybill/mail/parsing/ParserPool"
import * as ReportParts from "@waybill/mail/report/ReportParts"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as Erase from "@waybill/store/erasure/Erase"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Mask from "@waybill/store/erasure/Mask"
import * as Retention from "@waybill/store/erasure/Retention"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import { Effect, Exit, Layer, Option, Redacted, Result } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { Sql } from "@waybill/store/postgres/Sql"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { type, typed } from "../../support/process/CommandLine.ts"
import * as Database from "../../support/postgres/Database.ts"
import { followLog } from "../../support/postgres/followLog.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"
import { runToEnd } from "../../support/process/service.ts"
import * as Smtp from "./support.ts"
import { NOWHERE } from "../../support/nowhere.ts"

/** A bounce that takes a tenth of a second to parse, a hundred times the limit of `Hurried`. */
const bounceOf = (address: string, text = "") =>
  [
    "From: mailer-daemon@mx.example.org",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "",
    "--b",
    "Content-Type: text/html",
    "",
    `${text}${"<b>".repeat(60_000)}`,
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.org",
    "",
    `Final-Recipient: rfc822; ${address}`,
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 user unknown",
    "",
    "--b--",
    "",
  ].join("\r\n")

/** A parser that ends every job on a thread. */
const Hurried = Layer.effect(
  Parser.Pool,
  Effect.acquireRelease(
    Effect.sync(() => new ParserPool({ deadline_ms: 1, deadline_ms_per_mb: 0 })),
    (pool) => Effect.promise(() => pool.end()),
  ),
)

const at = Timestamp.Timestamp.make("2026-11-21T12:00:00.000Z")

/** The reply to a report about the first recipient of each of these messages. */
const report = Effect.fnUntraced(function* (bytes: string, ...refs: ReadonlyArray<World.MessageRef>) {
  const { domain, secretKey } = World.RETURN_PATH
  const port = yield* MailListener.listen({
    host: "127.0.0.1",
    port: 0,
    name: domain,
    inbound: Smtp.REPORTS_ONLY,
    returnPath: { domain, secretKeys: [secretKey] },
  })
  const client = yield* Smtp.raw(port)
  const recipients = refs.map(
    ({ account_id, stream_id: emailId }) =>
      `RCPT TO:<${ReturnPath.make(secretKey, domain, { account_id, emailId, recipientIndex: 0 })}>`,
  )
  yield* Effect.promise(() => client.all(["EHLO x", "MAIL FROM:<>", ...recipients, "DATA"]))
  client.write(`${bytes}.\r\n`)
  return yield* Effect.promise(() => client.reply())
})

const kept = (ref: Pick<World.MessageRef, "account_id">) =>
  Effect.map(UnreadReports.list(ref.account_id), ({ rows }) => rows)

/** Ends every document at once, as `Hurried` does, without a thread that is started to be ended. */
class EndingPool extends ParserPool {
  override read(...[, , , done]: Parameters<ParserPool["read"]>) {
    done({ _tag: "Killed", why: "deadline" })
    return () => undefined
  }
}
const Ended = Layer.succeed(Parser.Pool, new EndingPool())

/** Stores an unread report like the listener, and returns its id. */
const keptFor = Effect.fnUntraced(function* (ref: World.MessageRef, text = "") {
  assert.match(yield* Effect.provide(report(bounceOf("ana@example.org", text), ref), Ended), /^250 /u)
  return (yield* kept(ref)).at(-1)?.id ?? ""
})

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

/** Rows that take capacity and are not reports. */
const fill = Effect.fnUntraced(function* (account_id: string, rows: number, size_bytes: number) {
  const sql = yield* Sql
  yield* Effect.orDie(sql`
    INSERT INTO unread_reports (account_id, id, email_id, recipient_index, address, reason, size_bytes, bytes)
    SELECT ${account_id}, 'rep_' || n, 'msg_0', 0, '192.0.2.1', 'memory', ${size_bytes}::int, ''
    FROM generate_series(1, ${rows}::int) AS n`)
})

const removed = (account_id: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.orDie(sql`DELETE FROM unread_reports WHERE account_id = ${account_id}`),
  )

const counted = (outcome: string) =>
  Effect.map(PrometheusMetrics.format(), (text) =>
    Number(new RegExp(`waybill_unread_reports_total\\{outcome="${outcome}"\\} (\\d+)`, "u").exec(text)?.[1] ?? 0),
  )

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("a report whose parsing is ended", (it) => {
  // threat: unread-reports
  it.effect("is kept for the account of each of its messages, and for no other", function* () {
    const [one, two, other] = [
      yield* Smtp.delivered("ana@example.org"),
      yield* Smtp.delivered("bo@example.org"),
      yield* Smtp.delivered("cy@example.org"),
    ]
    const bytes = bounceOf("ana@example.org")
    const before = yield* counted("kept")
    assert.match(yield* Effect.provide(report(bytes, one, two), Hurried), /^250 2\.6\.0 /u)
    assert.strictEqual(yield* counted("kept"), before + 1)
    for (const ref of [one, two]) {
      const [row, ...more] = yield* kept(ref)
      assert.deepInclude(row, {
        account_id: ref.account_id,
        email_id: ref.stream_id,
        recipient_index: 0,
        scope: null,
        address: "127.0.0.1",
        reason: "deadline",
        size_bytes: Buffer.byteLength(bytes),
      })
      assert.isEmpty(more)
      const whole = Option.getOrThrow(yield* UnreadReports.find(row?.id ?? ""))
      assert.strictEqual(Buffer.from(whole.bytes).toString(), bytes)
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
    }
    assert.isEmpty(yield* kept(other))
    const [mine] = yield* kept(one)
    if (mine !== undefined) yield* UnreadReports.remove(other.account_id, mine.id)
    assert.lengthOf(yield* kept(one), 1)
  })

  it.effect("is refused for now if an account of its messages has no capacity left", function* () {
    const [full, free] = [yield* Smtp.delivered("ana@example.org"), yield* Smtp.delivered("ana@example.org")]
    yield* fill(full.account_id, UnreadReports.MAX_UNREAD_PER_ACCOUNT - 1, 1)
    const bytes = bounceOf("ana@example.org")
    const before = yield* counted("refused")
    yield* Effect.gen(function* () {
      assert.match(yield* report(bytes, full), /^250 /u)
      assert.match(yield* report(bytes, full), /^451 4\.3\.0 /u)
      assert.match(yield* report(bytes, free, full), /^451 4\.3\.0 /u)
      assert.isEmpty(yield* kept(free))
      assert.match(yield* report(bytes, free), /^250 /u)
    }).pipe(Effect.provide(Ended))
    assert.lengthOf(yield* kept(full), UnreadReports.MAX_UNREAD_PER_ACCOUNT)
    assert.strictEqual(yield* counted("refused"), before + 2)
    yield* removed(full.account_id)
  })

  // threat: unread-reports
  it.effect("is refused for now if the instance has no capacity left, also if many arrive at once", function* () {
    const ref = yield* Smtp.delivered("ana@example.org")
    const bytes = bounceOf("ana@example.org")
    const before = (yield* UnreadReports.list()).rows.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    // Capacity for one more.
    yield* fill("acc_other", 1, UnreadReports.MAX_UNREAD_BYTES - before - bytes.length)
    const sql = yield* Sql
    const many = <A, E>(effect: Effect.Effect<A, E, PgClient.PgClient>) =>
      Effect.forEach(Array.from({ length: 8 }), () => Effect.result(effect), { concurrency: "unbounded" })
    // Opens the connections, so that the transactions below overlap.
    yield* many(sql`SELECT pg_sleep(0.3)`)
    const keep = Effect.suspend(() =>
      UnreadReports.keep({
        bytes: Buffer.from(bytes),
        reason: "deadline",
        addressed: [
          {
            id: id("UnreadReportId"),
            account_id: ref.account_id,
            email_id: ref.stream_id,
            recipient_index: 0,
            scope: null,
            address: "192.0.2.1",
          },
        ],
      }),
    )
    const results = yield* many(keep)
    assert.lengthOf(results.filter(Result.isSuccess), 1)
    assert.lengthOf(yield* kept(ref), 1)
    assert.match(yield* Effect.provide(report(bytes, ref), Ended), /^451 4\.3\.0 /u)
    yield* removed("acc_other")
  })

  it.effect("is kept up to the number of bytes that are read of a report", function* () {
    const ref = yield* Smtp.delivered("ana@example.org")
    const bytes = bounceOf("ana@example.org") + `${"x".repeat(ReportParts.REPORT_SIZE_LIMIT)}\r\n`
    assert.match(yield* Effect.provide(report(bytes, ref), Ended), /^250 /u)
    assert.strictEqual((yield* kept(ref))[0]?.size_bytes, ReportParts.REPORT_SIZE_LIMIT)
  })

  it.effect(`is removed after ${UnreadReports.KEPT_DAYS} days`, () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      const ref = yield* Smtp.delivered("ana@example.org")
      const old = yield* keptFor(ref)
      const young = yield* keptFor(ref)
      const age = (id: string, days: number) =>
        sql`UPDATE unread_reports SET received_at = now() - make_interval(days => ${days}::int, mins => 1) WHERE id = ${id}`
      yield* age(old, UnreadReports.KEPT_DAYS)
      yield* age(young, UnreadReports.KEPT_DAYS - 1)
      assert.strictEqual(yield* UnreadReports.expire(), 1)
      assert.deepStrictEqual(ids(yield* kept(ref)), [young])
    }).pipe(Effect.orDie),
  )

  it.effect("is removed with its message, and not kept for a message that was removed", () =>
    Effect.gen(function* () {
      const { commit } = yield* EventStore
      const ref = yield* Smtp.delivered("ana@example.org")
      const { account_id } = ref
      const other = yield* Smtp.delivered("ana@example.org")
      const id = yield* keptFor(ref)
      yield* keptFor(other)
      yield* commit(
        Account,
        { account_id, stream_id: account_id },
        Account.changeKeeping(at, { log_days: 7, delivery_days: 30 }),
      )
      const [row] = yield* kept(ref)
      yield* followLog
      yield* Effect.andThen(TestClock.setTime(Date.now() + 30 * Timestamp.DAY), Retention.expire()).pipe(
        Effect.provide(TestClock.layer()),
      )
      assert.isEmpty(yield* kept(ref))
      assert.lengthOf(yield* kept(other), 1)
      assert.isDefined(row)
      if (row === undefined) return
      const again = UnreadReports.keep({ bytes: Buffer.from("x"), reason: "memory", addressed: [row] })
      assert.deepStrictEqual([yield* again, yield* UnreadReports.find(id)], [[], Option.none()])
    }).pipe(Effect.orDie),
  )

  // threat: unread-reports
  it.effect("is removed when an address is erased that its message was sent to, or that it contains", () =>
    Effect.gen(function* () {
      const sent = yield* keptFor(yield* Smtp.delivered("eve@example.org", "ana@example.org"))
      const named = yield* keptFor(yield* Smtp.delivered("ana@example.org"), "Ask Eve@example.org")
      const encoded = Buffer.from("It is eve@example.org").toString("base64")
      const packed = yield* keptFor(yield* Smtp.delivered("ana@example.org"), `\r\n${encoded}\r\n`)
      const other = yield* keptFor(yield* Smtp.delivered("ana@example.org"), "Ask steve@example.org")
      const before = ids((yield* UnreadReports.list()).rows)
      for (const id of [sent, named, packed, other]) assert.include(before, id)
      yield* Erase.erase("eve@example.org" as Address, Mask.replacement(Uint8Array.of(7)))
      const after = ids((yield* UnreadReports.list()).rows)
      assert.deepStrictEqual(
        after,
        before.filter((id) => ![sent, named, packed].includes(id)),
      )
    }).pipe(Effect.orDie),
  )
})

/** Runs the command line in a process of its own. */
const inProcess = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Database.Fresh, ({ url }) =>
    Effect.promise(() => runToEnd(args, { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE })),
  )

layer(Smtp.layer, { excludeTestServices: true, timeout: "60 seconds" })("waybill reports", (it) => {
  it.effect("lists unread reports of one account or of all", function* () {
    const [one, two] = [yield* Smtp.delivered("ana@example.org"), yield* Smtp.delivered("ana@example.org")]
    const [first, second] = [yield* keptFor(one), yield* keptFor(two)]
    assert.deepStrictEqual(ids(yield* typed("reports", "list")), [first, second])
    assert.deepStrictEqual(ids(yield* typed("reports", "list", one.account_id)), [first])
    const { output } = yield* type("reports", "list")
    assert.include(output, one.stream_id)
    yield* type("reports", "remove", first)
    assert.deepStrictEqual(ids(yield* typed("reports", "list")), [second])
    const { exit } = yield* type("reports", "remove", first)
    assert.isTrue(Exit.isFailure(exit))
    yield* type("reports", "remove", second)
  })

  // threat: unread-reports
  it.effect("shows a report with control characters escaped, and writes its bytes to files only", function* () {
    const ref = yield* Smtp.delivered("ana@example.org")
    const evil = "\u001b[2J\u009b31m\u202e"
    const id = yield* keptFor(ref, evil)
    const { output } = yield* type("reports", "show", id)
    for (const line of output.split("\n"))
      assert.isFalse(HiddenCharacters.hasHidden(line), JSON.stringify(line).slice(0, 200))
    assert.include(output, "\\u001b[2J\\u009b31m\\u202e")
    assert.include(output, "Final-Recipient: rfc822; ana@example.org\n")

    const raw = yield* inProcess("reports", "show", id, "--raw")
    assert.deepStrictEqual([raw.code, raw.output], [0, bounceOf("ana@example.org", evil)])
    const { isTTY } = process.stdout
    process.stdout.isTTY = true
    const refused = yield* type("reports", "show", id, "--raw")
    process.stdout.isTTY = isTTY
    assert.isTrue(Exit.isFailure(refused.exit))
    assert.strictEqual(refused.output, "")
    yield* type("reports", "remove", id)
  })

  it.effect("retries a report: the bounce is recorded, the address suppressed and the report removed", function* () {
    const ref = yield* Smtp.delivered("ana@example.org")
    const other = yield* Smtp.delivered("ana@example.org")
    const id = yield* keptFor(ref)
    const same = yield* keptFor(ref)
    assert.deepStrictEqual(yield* typed("reports", "retry", id), {
      id,
      email_id: ref.stream_id,
      events: 1,
      not_a_report: null,
    })
    assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered", "EmailBounced"])
    const { history } = yield* World.history(ref)
    assert.deepInclude(history.at(-1)?.meta, { actor: { type: "system", id: null }, address: "127.0.0.1" })
    assert.isTrue(Option.isSome(yield* Suppressions.find(ref.account_id, "ana@example.org")))
    assert.isTrue(Option.isNone(yield* Suppressions.find(other.account_id, "ana@example.org")))
    assert.deepStrictEqual(ids(yield* kept(ref)), [same])
    // The same report once more adds no event.
    const again = yield* inProcess("reports", "retry", same)
    assert.deepStrictEqual(again, {
      code: 0,
      output: `0 events were recorded for ${ref.stream_id}; ${same} is removed.\n`,
    })
    assert.isEmpty(yield* kept(ref))
    assert.isTrue(Exit.isFailure((yield* type("reports", "retry", id)).exit))
  })

  it.effect("retries mail that is not a report, and removes it", function* () {
    const ref = yield* Smtp.delivered("ana@example.org")
    const mail = `From: x@x.test\r\nContent-Type: text/html\r\n\r\n${"<b>".repeat(60_000)}\r\n`
    assert.match(yield* Effect.provide(report(mail, ref), Ended), /^250 /u)
    const [row] = yield* kept(ref)
    assert.strictEqual((yield* typed("reports", "retry", row?.id ?? "")).not_a_report, "unrecognized")
    assert.isEmpty(yield* kept(ref))
    assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
  })
})
