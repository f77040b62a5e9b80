import * as PackedSql from "@waybill/store/packed/PackedSql"
import { Duration, Effect, Fiber } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import { steadyMs } from "../../support/process/runDelayMs.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const SLOW = 600_000
const TIMEOUT_SECONDS = 2
/** A request is answered after the time limit, and what a busy machine adds. */
const LATEST_MS = 6_000
const RECOVERY = Duration.seconds(60)

const message = { from: "hi@acme.test", to: "ana@example.org", subject: "Receipt", text: "Thank you." }

/** A service behind a proxy of its database, and an account that may send. */
const service = Effect.gen(function* () {
  const proxy = yield* faultProxy((yield* Database.Fresh).url)
  const node = yield* ServiceProcess.start(proxy.url, { DATABASE_TIMEOUT: String(TIMEOUT_SECONDS) })
  const account_id = yield* World.account()
  const { secret: key } = yield* World.key(account_id)
  const request = (method: string, path: string, options: Partial<ServiceProcess.RequestOptions> = {}) =>
    Effect.promise(async () => {
      const began = steadyMs(node.pid)
      const answer = await node.request(method, path, { key, ...options })
      return { ...answer, took_ms: steadyMs(node.pid) - began }
    })
  yield* request("POST", "/v1/domains", { body: { name: "acme.test" } })
  const send = (subject: string, idempotencyKey?: string, by = key) =>
    request("POST", "/v1/email/send", {
      key: by,
      body: { ...message, subject },
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
  const isSending = Effect.map(send("probe"), ({ status }) => status === 200)
  const sql = yield* Sql
  const accepted = Effect.map(
    sql<{ readonly subject: string }>`
      SELECT ${PackedSql.field(sql, "", "EmailQueued", "subject")} AS subject FROM events WHERE account_id = ${account_id} AND type = 'EmailQueued'`,
    (rows) => rows.map(({ subject }) => subject),
  )
  return { account_id, accepted, request, isSending, node, proxy, send }
})

layer(World.layer, { excludeTestServices: true })("a service whose database hangs", (it) => {
  it.effect(
    "answers 503 after the time limit and at once from then on, until the database answers again",
    function* () {
      const { account_id, accepted, request, isSending, node, proxy, send } = yield* service
      const unused = yield* World.key(account_id)
      assert.strictEqual((yield* send("before")).status, 200)
      proxy.swallow()
      const [first, known, read] = yield* Effect.all(
        [send("first", undefined, unused.secret), send("known"), request("GET", "/v1/email/logs")],
        { concurrency: 3 },
      )
      for (const each of [first, known, read]) {
        assert.deepStrictEqual(
          [each.status, each.json.error.reason, each.headers.get("retry-after")],
          [503, "unavailable", "5"],
        )
        assert.isBelow(each.took_ms, LATEST_MS)
      }
      assert.include(first.json.error.message, "Nothing was accepted")
      const second = yield* send("second")
      assert.deepStrictEqual([second.status, second.json.error.reason], [503, "unavailable"])
      assert.isBelow(second.took_ms, TIMEOUT_SECONDS * 500)
      const ready = yield* request("GET", "/readyz")
      assert.deepStrictEqual([ready.status, ready.json.problems], [503, ["the database does not respond"]])
      proxy.hear()
      yield* World.until(isSending, (is) => is, RECOVERY)
      assert.strictEqual((yield* request("GET", "/readyz")).status, 200)
      const subjects = yield* accepted
      assert.notIncludeMembers(subjects, ["first", "known", "second"])
      assert.lengthOf(node.output().match(/does not respond: requests are answered 503/gu) ?? [], 1)
      assert.notInclude(node.output(), "request failed")
    },
    SLOW,
  )

  it.effect(
    "does not say that nothing was accepted of a commit that was not confirmed",
    function* () {
      const { accepted, isSending, proxy, send } = yield* service
      proxy.injectInto("unconfirmed", "silent")
      const sending = yield* Effect.forkChild(send("unconfirmed", "key-1"))
      yield* World.until(Effect.sync(proxy.struck), (struck) => struck === 1, RECOVERY)
      proxy.swallow()
      const answer = yield* Fiber.join(sending)
      assert.deepStrictEqual([answer.status, answer.json.error.reason], [500, "outcome_unknown"])
      assert.include(answer.json.error.message, "Idempotency-Key")
      assert.isBelow(answer.took_ms, LATEST_MS)
      proxy.hear()
      yield* World.until(isSending, (is) => is, RECOVERY)
      const again = yield* send("unconfirmed", "key-1")
      assert.deepStrictEqual([again.status, again.headers.get("idempotent-replayed")], [200, "true"])
      assert.lengthOf(
        (yield* accepted).filter((subject) => subject === "unconfirmed"),
        1,
      )
    },
    SLOW,
  )

  it.effect(
    "accepts nothing later of what it answered with 503, wherever the transaction was",
    function* () {
      const { account_id, accepted, isSending, proxy, send } = yield* service
      const other = yield* otherClient((yield* Database.Fresh).url)
      // The batch waits for the account's lock inside its transaction, before it has decided.
      yield* other.query(`BEGIN; SELECT pg_advisory_xact_lock(${0x5742_4143}, hashtext('${account_id}'))`)
      const sending = yield* Effect.forkChild(send("within"))
      yield* Effect.sleep("500 millis")
      proxy.swallow()
      const answer = yield* Fiber.join(sending)
      assert.deepStrictEqual([answer.status, answer.json.error.reason], [503, "unavailable"])
      yield* other.query("ROLLBACK")
      proxy.hear()
      yield* World.until(isSending, (is) => is, RECOVERY)
      assert.notInclude(yield* accepted, "within")
    },
    SLOW,
  )

  it.effect(
    "goes on waiting for a lock while the database answers others",
    function* () {
      const { account_id, request, send } = yield* service
      const other = yield* otherClient((yield* Database.Fresh).url)
      yield* other.query(`BEGIN; SELECT pg_advisory_xact_lock(${0x5742_4143}, hashtext('${account_id}'))`)
      const sending = yield* Effect.forkChild(send("patient"))
      yield* Effect.sleep(Duration.seconds(2 * TIMEOUT_SECONDS))
      assert.strictEqual((yield* request("GET", "/v1/email/logs")).status, 200)
      yield* other.query("ROLLBACK")
      assert.strictEqual((yield* Fiber.join(sending)).status, 200)
    },
    SLOW,
  )
})
