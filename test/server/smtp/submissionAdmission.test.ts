import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Uuid from "@waybill/domain/values/Uuid"
import { Duration, Effect } from "effect"
import type { SendMailOptions } from "nodemailer"
import { Sql } from "@waybill/store/postgres/Sql"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import * as DatabaseClock from "../../support/DatabaseClock.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Smtp from "./support.ts"

const mail = (customer: Smtp.Customer): SendMailOptions => ({
  from: `hi@${customer.domain}`,
  to: "ana@example.org",
  subject: "Your receipt",
  text: "Thank you.",
})

layer(Smtp.layerOfOneMinute, { excludeTestServices: true })("SMTP submission limits", (it) => {
  it.effect("messages per minute, and accepts more in the next minute", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const sql = yield* Sql
    yield* sql`INSERT INTO rate_windows (bucket, window_start, count)
        SELECT ${`${acme.keyId}/send`}, date_trunc('minute', statement_timestamp()), 999`
    const client = yield* Smtp.raw(port)
    const replies = yield* Effect.promise(() =>
      client.all(["EHLO x", Smtp.plain(acme.secret), "MAIL FROM:<a@b.cc>", "RSET", "MAIL FROM:<a@b.cc>", "NOOP"]),
    )
    assert.match(replies[2] ?? "", /^250 /u)
    assert.match(
      replies[4] ?? "",
      /^450 4\.7\.0 request_rate: The limit is 1000 requests per minute; retry in 30 s\.$/u,
    )
    assert.match(replies[5] ?? "", /^250 /u)
    yield* DatabaseClock.set("2026-11-21T12:01:00Z")
    assert.match(yield* Effect.promise(() => client.say("MAIL FROM:<a@b.cc>")), /^250 /u)
  })

  for (const [name, key, words] of [
    ["expired", { expires_at: "2126-01-01T00:00:00.000Z" as Timestamp.Timestamp }, "has expired"],
    ["from another address", { allowed_ips: ["192.0.2.0/24"] }, "is not allowed from this address"],
  ] as const) {
    it.effect(`a key that is ${name}`, function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer(key)
      const sql = yield* Sql
      // A key cannot be created with an expiry in the past, so it is changed in the table.
      if (name === "expired")
        yield* sql`UPDATE api_keys SET expires_at = statement_timestamp() - interval '1 second' WHERE id = ${acme.keyId}`
      const sent = yield* Smtp.send(port, acme.secret, mail(acme))
      assert.strictEqual(sent, `535 5.7.8 api_key_invalid: This API key ${words}.`)
    })
  }

  // threat: revoked-access
  it.effect("a key that is revoked between two messages or while a body arrives", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const from = `MAIL FROM:<hi@${acme.domain}>`
    const body = `From: hi@${acme.domain}\r\nTo: ana@example.org\r\nSubject: s\r\n\r\nhi\r\n.`
    const client = yield* Smtp.raw(port)
    const other = yield* Smtp.raw(port)
    const begin = ["EHLO x", Smtp.plain(acme.secret), from, "RCPT TO:<ana@example.org>", "DATA"]
    yield* Effect.promise(() => client.all(begin))
    const [line = "", last = "", ...more] = yield* Effect.promise(() => client.lines(body))
    const id = /^250 2\.0\.0 Ok: queued as (msg_\w+)$/u.exec(last)?.[1] ?? ""
    assert.deepStrictEqual(more, [])
    // Symfony, and with it Laravel, reads the id so.
    assert.strictEqual(/250 Ok (?<id>[0-9a-f-]+)$/imu.exec(line)?.groups?.["id"], Uuid.of(id))
    assert.match((yield* Effect.promise(() => other.all(begin))).at(-1) ?? "", /^354 /u)
    yield* Smtp.revoke(acme)
    assert.strictEqual(
      yield* Effect.promise(() => client.say(from)),
      "535 5.7.8 api_key_invalid: This API key has been revoked.",
    )
    assert.strictEqual(
      yield* Effect.promise(() => other.say(body)),
      "535 5.7.8 api_key_invalid: This API key has been revoked.",
    )
    assert.strictEqual((yield* Smtp.accepted(acme.account_id)).length, 1)
  })

  it.effect("failed logins: 3 per connection and 120 per minute and address", function* () {
    const port = yield* Smtp.submission()
    const client = yield* Smtp.raw(port)
    const guesses = [Smtp.plain("hunter2"), Smtp.plain(`wb_${"a".repeat(49)}`), "AUTH LOGIN YW55"]
    const replies = yield* Effect.promise(() =>
      client.all(["EHLO x", ...guesses, Buffer.from("x").toString("base64"), Smtp.plain("y")]),
    )
    assert.match(replies[1] ?? "", /^535 5\.7\.8 The password is not an API key/u)
    assert.match(replies[2] ?? "", /^535 5\.7\.8 /u)
    assert.match(replies[3] ?? "", /^334 /u)
    assert.match(replies[4] ?? "", /^535 5\.7\.8 /u)
    assert.match(replies[5] ?? "", /^421 4\.7\.0 Too many failed logins on this connection/u)
    yield* Effect.promise(() => client.untilClosed())
    // Windows of clients without a key are at home.
    const sql = yield* HomeSql
    yield* sql`INSERT INTO rate_windows (bucket, window_start, count)
        SELECT 'ip/127.0.0.1', date_trunc('minute', statement_timestamp()), 120
        ON CONFLICT (bucket, window_start) DO UPDATE SET count = 120`
    const late = yield* Smtp.raw(port)
    const refused = yield* Effect.promise(() => late.all(["EHLO x", Smtp.plain("hunter2")]))
    assert.match(refused[1] ?? "", /^421 4\.7\.0 Too many failed logins from this address/u)
    const acme = yield* Smtp.customer()
    assert.match(yield* Smtp.send(port, acme.secret, mail(acme)), /^250 /u)
    yield* sql`DELETE FROM rate_windows WHERE bucket LIKE 'ip/%'`
  })

  // threat: smtp-connections
  it.effect("slow clients, large messages and the number of connections", function* () {
    const limits = { message: Duration.millis(300), maxConnectionsPerAddress: 2, maxRecipients: 3 }
    const port = yield* Smtp.submission({ limits })
    const acme = yield* Smtp.customer()
    const slow = yield* Smtp.raw(port)
    const begin = yield* Effect.promise(() =>
      slow.all(["EHLO x", Smtp.plain(acme.secret), `MAIL FROM:<hi@${acme.domain}>`]),
    )
    assert.match(begin[2] ?? "", /^250 /u)
    const second = yield* Smtp.raw(port)
    const third = yield* Smtp.raw(port)
    yield* Effect.promise(() => third.untilClosed())
    assert.isFalse(second.closed)
    const rcpts = yield* Effect.promise(() => slow.all([0, 1, 2, 3].map((nth) => `RCPT TO:<r${nth}@example.org>`)))
    assert.deepStrictEqual(
      rcpts.map((reply) => reply.slice(0, 9)),
      ["250 2.1.5", "250 2.1.5", "250 2.1.5", "452 4.5.3"],
    )
    assert.match(yield* Effect.promise(() => slow.say("RCPT TO:<r0@example.org>")), /^250 /u)
    yield* Effect.promise(() => slow.say("DATA"))
    slow.write("Subject: for ever\r\n")
    assert.match(yield* Effect.promise(() => slow.reply()), /^421 4\.4\.2 /u)
    yield* Effect.promise(() => slow.untilClosed())
    assert.deepStrictEqual(yield* Smtp.accepted(acme.account_id), [])

    const hurried = yield* Smtp.submission({ limits: { identifiedWithin: Duration.millis(300) } })
    const client = yield* Smtp.raw(hurried)
    assert.match(yield* Effect.promise(() => client.reply()), /^421 4\.4\.2 /u)
  })

  it.effect("mail without a login and invalid addresses", function* () {
    const port = yield* Smtp.submission()
    const acme = yield* Smtp.customer()
    const client = yield* Smtp.raw(port)
    const replies = yield* Effect.promise(() =>
      client.all([
        "MAIL FROM:<a@b.cc>",
        "EHLO x",
        "MAIL FROM:<a@b.cc>",
        "AUTH CRAM-MD5",
        Smtp.plain(acme.secret),
        "DATA",
        "RCPT TO:<a@b.cc>",
        "MAIL FROM:<a@b.cc>",
        "RCPT TO:<a@b>",
        "RCPT TO:<a b@b.cc>",
        "RCPT TO:<@b.cc>",
        "RCPT TO:<a@[127.0.0.1]>",
        "DATA",
      ]),
    )
    const codes = replies.map((reply) => reply.slice(0, 9))
    assert.deepStrictEqual(codes.slice(0, 1), ["503 5.5.1"])
    assert.deepStrictEqual(codes.slice(2), [
      "530 5.7.0",
      "504 5.5.4",
      "235 2.7.0",
      "503 5.5.1",
      "503 5.5.1",
      "250 2.1.0",
      "553 5.1.3",
      "501 5.1.3",
      "501 5.1.3",
      "553 5.1.3",
      "503 5.5.1",
    ])
  })
})
