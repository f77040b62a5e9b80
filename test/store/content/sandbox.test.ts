import * as Sandbox from "@waybill/store/content/Sandbox"
import { Duration, Effect, Fiber, Option } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { id } from "../../support/history.ts"

const keep = Effect.fnUntraced(function* (
  account_id: string,
  recipients: ReadonlyArray<string>,
  emailId: string = id("EmailId"),
) {
  const captured = {
    message: {
      emailId,
      owner: { account_id },
      subject: "x",
      mailFrom: "b@bounces.test",
      bytes: Buffer.from("Subject: x\r\n\r\nhello\r\n"),
    },
    recipients,
  }
  const keeper = yield* Sandbox.recorder
  yield* keeper(captured)
  return emailId
})

const ids = (rows: ReadonlyArray<{ readonly id: string }>) => rows.map(({ id }) => id)

layer(Database.layerFresh, { excludeTestServices: true })("the sandbox", (it) => {
  it.effect("shows captured mail only to its account, newest first", function* () {
    const [mine, other] = [id("AccountId"), id("AccountId")]
    const first = yield* keep(mine, ["ana@example.org"])
    const second = yield* keep(mine, ["bob@example.org"])
    yield* keep(other, ["ana@example.org"])
    assert.deepStrictEqual(ids(yield* Sandbox.list({ account_id: mine, limit: 10 })), [second, first])
    assert.deepStrictEqual(ids(yield* Sandbox.list({ account_id: mine, limit: 10, after: second })), [first])
    assert.deepStrictEqual(ids(yield* Sandbox.list({ account_id: mine, limit: 10, to: "ANA@example.org" })), [first])
    const whole = Option.getOrThrow(yield* Sandbox.find(mine, first))
    assert.deepStrictEqual(
      [whole.recipients, Buffer.from(whole.bytes).toString(), whole.size_bytes],
      [["ana@example.org"], "Subject: x\r\n\r\nhello\r\n", 21],
    )
    assert.isTrue(Option.isNone(yield* Sandbox.find(other, first)))
  })

  it.effect("shows a message once, with the recipients of later attempts", function* () {
    const account = id("AccountId")
    const message = yield* keep(account, ["ana@example.org", "bob@example.org"])
    yield* keep(account, ["bob@example.org", "cy@example.org"], message)
    const [record, ...more] = yield* Sandbox.list({ account_id: account, limit: 10 })
    assert.deepStrictEqual([record?.recipients, more], [["ana@example.org", "bob@example.org", "cy@example.org"], []])
  })

  it.effect("lets a test wait for its mail, up to a time limit", function* () {
    const account = id("AccountId")
    const query = { account_id: account, limit: 10, to: "late@example.org" }
    assert.deepStrictEqual(yield* Sandbox.wait(query, Duration.millis(150)), [])
    const waiting = yield* Effect.forkChild(Sandbox.wait(query, Duration.seconds(10)), { startImmediately: true })
    yield* keep(account, ["other@example.org"])
    const message = yield* keep(account, ["late@example.org"])
    assert.deepStrictEqual(ids(yield* Fiber.join(waiting)), [message])
  })

  it.effect("removes one message, all, and expired ones", function* () {
    const sql = yield* Sql
    const account = id("AccountId")
    const [one] = [
      yield* keep(account, ["a@x.test"]),
      yield* keep(account, ["b@x.test"]),
      yield* keep(account, ["c@x.test"]),
    ]
    assert.strictEqual(yield* Sandbox.remove(id("AccountId"), one), 0)
    assert.strictEqual(yield* Sandbox.remove(account, one), 1)
    assert.strictEqual(yield* Sandbox.remove(account), 2)
    const old = yield* keep(account, ["d@x.test"])
    const kept = yield* keep(account, ["e@x.test"])
    yield* Effect.orDie(sql`UPDATE sandbox_messages SET expires_at = now() - interval '1 second' WHERE id = ${old}`)
    assert.strictEqual(yield* Sandbox.expire(), 1)
    assert.deepStrictEqual(ids(yield* Sandbox.list({ account_id: account, limit: 10 })), [kept])
  })
})
