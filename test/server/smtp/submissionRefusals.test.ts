import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import type { Address } from "@waybill/domain/Address"
import * as Id from "@waybill/domain/Id"
import * as Suppression from "@waybill/domain/Suppression"
import * as Timestamp from "@waybill/domain/Timestamp"
import { EventStore } from "@waybill/store/EventStore"
import { Clock, Duration, Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { SendMailOptions } from "nodemailer"
import * as Smtp from "./support.ts"

const mail = (customer: Smtp.Customer, over: SendMailOptions = {}): SendMailOptions => ({
  from: `hi@${customer.domain}`,
  to: "ana@example.org",
  subject: "Your receipt",
  text: "Thank you.",
  ...over,
})

const many = (count: number) => Array.from({ length: count }, (_, nth) => `r${nth}@example.org`)

interface Case {
  readonly name: string
  readonly reply: RegExp
  readonly key?: Smtp.CustomerOptions
  readonly mail: (customer: Smtp.Customer) => SendMailOptions
}

const CASES: ReadonlyArray<Case> = [
  {
    name: "a key without the scope",
    key: { scopes: ["email:logs:read", "domains:write"] },
    mail: mail,
    reply: /^550 5\.7\.1 missing_scope: /u,
  },
  {
    name: "a domain that is not the account's",
    mail: (customer) => mail(customer, { from: "hi@elsewhere.test" }),
    reply: /^550 5\.7\.1 domain_not_verified: The domain elsewhere\.test /u,
  },
  {
    name: "a domain that the key may not use",
    key: { keyDomain: "only.test" },
    mail: mail,
    reply: /^550 5\.7\.1 domain_not_allowed: /u,
  },
  {
    name: "more recipients than the plan takes",
    key: { plan: "free" },
    mail: (customer) => mail(customer, { to: many(11) }),
    reply: /^554 5\.5\.3 recipient_limit_exceeded: The Free plan takes 10 /u,
  },
  {
    name: "more than 50 shown in To",
    key: { plan: "business" },
    mail: (customer) => mail(customer, { to: many(51) }),
    reply: /^554 5\.6\.0 validation_failed: `to` takes 1 to 50 addresses; 51 were given/u,
  },
  {
    name: "a time in the past",
    mail: (customer) => mail(customer, { headers: { "X-Scheduled-At": "2020-01-01T00:00:00Z" } }),
    reply: /^554 5\.6\.0 scheduled_at_out_of_range: /u,
  },
  {
    name: "a time without an offset",
    mail: (customer) => mail(customer, { headers: { "X-Scheduled-At": "tomorrow" } }),
    reply: /^554 5\.6\.0 validation_failed: `scheduled_at` must be an ISO 8601 time/u,
  },
  {
    name: "six tags",
    mail: (customer) => mail(customer, { headers: { "X-Tag": "a, b, c, d, e, f" } }),
    reply: /^554 5\.6\.0 validation_failed: `tags` takes at most 5 tags; 6 were given/u,
  },
  {
    name: "a subject that is too long",
    mail: (customer) => mail(customer, { subject: "word ".repeat(200) }),
    reply: /^554 5\.6\.0 validation_failed: `subject` is \d+ characters; at most 998 are allowed/u,
  },
  {
    name: "51 headers",
    mail: (customer) =>
      mail(customer, { headers: Object.fromEntries(Array.from({ length: 51 }, (_, nth) => [`X-H${nth}`, "v"])) }),
    reply: /^554 5\.6\.0 validation_failed: `headers` takes at most 50 headers; 51 were given/u,
  },
  {
    name: "the same header twice",
    mail: (customer) => mail(customer, { headers: { "X-Twice": ["a", "b"] } }),
    reply: /^554 5\.6\.0 validation_failed: `headers\.X-Twice` stands there twice/u,
  },
  {
    name: "21 attachments",
    mail: (customer) =>
      mail(customer, {
        attachments: Array.from({ length: 21 }, (_, nth) => ({ filename: `${nth}.txt`, content: "x" })),
      }),
    reply: /^554 5\.6\.0 validation_failed: `attachments` takes at most 20 attachments; 21 were given/u,
  },
  {
    name: "an idempotency key that is too long",
    mail: (customer) => mail(customer, { headers: { "X-Idempotency-Key": "k".repeat(256) } }),
    reply: /^554 5\.6\.0 validation_failed: `X-Idempotency-Key` must be 1 to 255 printable characters/u,
  },
  {
    name: "a line break inside an encoded name",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: =?utf-8?Q?a=0D=0ABcc?= <hi@${customer.domain}>\r\nTo: ana@example.org\r\nSubject: s\r\n\r\nhi\r\n`,
    }),
    reply: /^554 5\.6\.0 validation_failed: `from` must not contain line breaks/u,
  },
  {
    name: "a line break inside an encoded subject",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nTo: ana@example.org\r\nSubject: =?utf-8?Q?a=0D=0ABcc:_eve=40evil.test?=\r\n\r\nhi\r\n`,
    }),
    reply: /^554 5\.6\.0 validation_failed: `subject` must not contain CR, LF or NUL/u,
  },
  {
    name: "a line break inside an encoded header",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nTo: ana@example.org\r\nX-A: =?utf-8?Q?a=0D=0ABcc:_eve=40evil.test?=\r\nSubject: s\r\n\r\nhi\r\n`,
    }),
    reply: /^554 5\.6\.0 validation_failed: `headers\.X-A` must not contain CR, LF or NUL/u,
  },
  {
    name: "two senders",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}, eve@evil.test\r\nTo: ana@example.org\r\nSubject: s\r\n\r\nhi\r\n`,
    }),
    reply: /^554 5\.6\.0 validation_failed: `from` takes one address/u,
  },
  {
    name: "two From headers",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nFrom: eve@evil.test\r\nTo: ana@example.org\r\nSubject: s\r\n\r\nhi\r\n`,
    }),
    reply: /^554 5\.6\.0 validation_failed: `from` takes one address/u,
  },
  {
    name: "a message that is signed as a whole",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nTo: ana@example.org\r\nSubject: s\r\nContent-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nhi\r\n--b--\r\n`,
    }),
    reply: /^554 5\.6\.1 The message is signed or encrypted as a whole/u,
  },
  {
    name: "more than the size that is taken",
    mail: (customer) => mail(customer, { text: `${"x".repeat(70)}\n`.repeat(16_000) }),
    reply: /^552 5\.3\.4 /u,
  },
  {
    name: "a bomb of parts",
    mail: (customer) =>
      bomb(customer, `Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\n".repeat(1200)}--b--`),
    reply: /^552 5\.3\.4 The message has more than 1000 parts/u,
  },
  {
    name: "a bomb of depth",
    mail: (customer) => {
      const levels = Array.from(
        { length: 40 },
        (_, nth) => `Content-Type: multipart/mixed; boundary=b${nth}\r\n\r\n--b${nth}\r\n`,
      )
      return bomb(customer, `${levels.join("")}\r\nhi`)
    },
    reply: /^552 5\.3\.4 The message is nested deeper than 20 parts/u,
  },
  {
    name: "a bomb of headers",
    mail: (customer) =>
      bomb(customer, `${"X-Filler: 0123456789012345678901234567890123456789\r\n".repeat(6000)}\r\nhi`),
    reply: /^552 5\.3\.4 The message is nested deeper than 20 parts or has more than 262144 bytes of headers/u,
  },
  {
    name: "a bomb of lines",
    mail: (customer) => bomb(customer, `\r\n${"\r\n".repeat(300_000)}`),
    reply: /^552 5\.3\.4 The message has more lines than this service reads/u,
  },
  {
    name: "a bomb of addresses",
    mail: (customer) => bomb(customer, `Cc: ${"a@b.cc,\r\n ".repeat(2100)}a@b.cc\r\n\r\nhi`),
    reply: /^552 5\.3\.4 The message shows more than 2000 addresses/u,
  },
]

const bomb = (customer: Smtp.Customer, rest: string): SendMailOptions => ({
  envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
  raw: `From: hi@${customer.domain}\r\nTo: ana@example.org\r\nSubject: s\r\n${rest}\r\n`,
})

layer(Smtp.World, { excludeTestServices: true })("SMTP submission refuses", (it) => {
  for (const each of CASES) {
    it.effect(each.name, () =>
      Effect.gen(function* () {
        const port = yield* Smtp.submission()
        const customer = yield* Smtp.customer(each.key ?? {})
        const began = yield* Clock.currentTimeMillis
        assert.match(yield* Smtp.send(port, customer.secret, each.mail(customer)), each.reply)
        assert.isBelow((yield* Clock.currentTimeMillis) - began, 5_000)
        assert.deepStrictEqual(yield* Smtp.accepted(customer.account_id), [])
      }),
    )
  }

  it.effect("mail to nobody who is not suppressed", () =>
    Effect.gen(function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer()
      const store = yield* EventStore
      const millis = yield* Clock.currentTimeMillis
      const suppression_id = Id.make("SuppressionId", millis, randomBytes(10))
      const address = "ana@example.org" as Address
      const add = Suppression.add(Timestamp.fromMillis(millis), suppression_id, address, "manual", null)
      yield* Effect.orDie(store.commit(Suppression, { account_id: acme.account_id, stream_id: address }, add))
      assert.match(yield* Smtp.send(port, acme.secret, mail(acme)), /^550 5\.2\.1 all_recipients_suppressed: /u)
      assert.match(yield* Smtp.send(port, acme.secret, mail(acme, { bcc: "bo@example.org" })), /^250 /u)
    }),
  )

  it.effect("more than the month's volume, and says when it is over", () =>
    Effect.gen(function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer({ plan: "free" })
      const sql = yield* PgClient.PgClient
      const month = Timestamp.fromMillis(yield* Clock.currentTimeMillis).slice(0, 7)
      yield* sql`INSERT INTO monthly_usage (account_id, month, accepted) VALUES (${acme.account_id}, ${month}, 2999)`
      assert.match(yield* Smtp.send(port, acme.secret, mail(acme)), /^250 /u)
      assert.match(
        yield* Smtp.send(port, acme.secret, mail(acme)),
        /^452 4\.2\.2 monthly_quota: .*Retry after \d+ s\.$/u,
      )
    }),
  )

  it.effect("the 1001st message of a minute, and takes it again in the next", () =>
    Effect.gen(function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer()
      const sql = yield* PgClient.PgClient
      yield* sql`INSERT INTO rate_windows (bucket, window_start, count)
        SELECT ${`${acme.keyId}/send`}, date_trunc('minute', statement_timestamp()) + n * interval '1 minute', 999 FROM generate_series(0, 1) n`
      const client = yield* Smtp.raw(port)
      const replies = yield* Effect.promise(() =>
        client.all(["EHLO x", Smtp.plain(acme.secret), "MAIL FROM:<a@b.cc>", "RSET", "MAIL FROM:<a@b.cc>", "NOOP"]),
      )
      assert.match(replies[2] ?? "", /^250 /u)
      assert.match(
        replies[4] ?? "",
        /^450 4\.7\.0 request_rate: 1000 requests a minute are allowed here; the next window begins in \d+ s\.$/u,
      )
      assert.match(replies[5] ?? "", /^250 /u)
    }),
  )

  for (const [name, key, words] of [
    ["expired", { expires_at: "2126-01-01T00:00:00.000Z" as Timestamp.Timestamp }, "has expired"],
    ["from another address", { allowed_ips: ["192.0.2.0/24"] }, "is not allowed from this address"],
  ] as const) {
    it.effect(`a key that is ${name}`, () =>
      Effect.gen(function* () {
        const port = yield* Smtp.submission()
        const acme = yield* Smtp.customer(key)
        const sql = yield* PgClient.PgClient
        // Nobody is given a key that has expired already.
        if (name === "expired")
          yield* sql`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = ${acme.keyId}`
        const sent = yield* Smtp.send(port, acme.secret, mail(acme))
        assert.strictEqual(sent, `535 5.7.8 api_key_invalid: This API key ${words}.`)
      }),
    )
  }

  it.effect("a key that was revoked between two sends on one connection, or while a body came in", () =>
    Effect.gen(function* () {
      const port = yield* Smtp.submission()
      const acme = yield* Smtp.customer()
      const from = `MAIL FROM:<hi@${acme.domain}>`
      const body = `From: hi@${acme.domain}\r\nTo: ana@example.org\r\nSubject: s\r\n\r\nhi\r\n.`
      const client = yield* Smtp.raw(port)
      const other = yield* Smtp.raw(port)
      const begin = ["EHLO x", Smtp.plain(acme.secret), from, "RCPT TO:<ana@example.org>", "DATA"]
      const first = yield* Effect.promise(() => client.all([...begin, body]))
      assert.match(first.at(-1) ?? "", /^250 2\.6\.0 Queued as msg_/u)
      assert.match((yield* Effect.promise(() => other.all(begin))).at(-1) ?? "", /^354 /u)
      yield* Smtp.revoke(acme)
      assert.strictEqual(
        yield* Effect.promise(() => client.say(from)),
        "535 5.7.8 api_key_invalid: This API key has been revoked.",
      )
      assert.match(yield* Effect.promise(() => other.say(body)), /^535 5\.7\.8 /u)
      assert.strictEqual((yield* Smtp.accepted(acme.account_id)).length, 1)
    }),
  )

  it.effect("guessed keys: three on a connection, 120 a minute from an address, and tells the owner nothing", () =>
    Effect.gen(function* () {
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
      const sql = yield* PgClient.PgClient
      yield* sql`INSERT INTO rate_windows (bucket, window_start, count)
        SELECT 'ip/127.0.0.1', date_trunc('minute', statement_timestamp()) + n * interval '1 minute', 120 FROM generate_series(0, 1) n
        ON CONFLICT (bucket, window_start) DO UPDATE SET count = 120`
      const late = yield* Smtp.raw(port)
      const refused = yield* Effect.promise(() => late.all(["EHLO x", Smtp.plain("hunter2")]))
      assert.match(refused[1] ?? "", /^421 4\.7\.0 Too many failed logins from this address/u)
      const acme = yield* Smtp.customer()
      assert.match(yield* Smtp.send(port, acme.secret, mail(acme)), /^250 /u)
      yield* sql`DELETE FROM rate_windows WHERE bucket LIKE 'ip/%'`
    }),
  )

  it.effect("what comes too slowly, too long, or too many at once", () =>
    Effect.gen(function* () {
      const limits = {
        stranger: Duration.millis(300),
        message: Duration.millis(300),
        maxConnectionsPerAddress: 2,
        maxRecipients: 3,
      }
      const port = yield* Smtp.submission({ limits })
      const acme = yield* Smtp.customer()
      const stranger = yield* Smtp.raw(port)
      const slow = yield* Smtp.raw(port)
      const third = yield* Smtp.raw(port)
      yield* Effect.promise(() => third.untilClosed())
      const begin = yield* Effect.promise(() =>
        slow.all(["EHLO x", Smtp.plain(acme.secret), `MAIL FROM:<hi@${acme.domain}>`]),
      )
      assert.match(begin[2] ?? "", /^250 /u)
      const rcpts = yield* Effect.promise(() => slow.all(many(4).map((address) => `RCPT TO:<${address}>`)))
      assert.deepStrictEqual(
        rcpts.map((reply) => reply.slice(0, 9)),
        ["250 2.1.5", "250 2.1.5", "250 2.1.5", "452 4.5.3"],
      )
      assert.match(yield* Effect.promise(() => slow.say("RCPT TO:<r0@example.org>")), /^250 /u)
      yield* Effect.promise(() => slow.say("DATA"))
      slow.write("Subject: for ever\r\n")
      assert.match(yield* Effect.promise(() => stranger.reply()), /^421 4\.4\.2 /u)
      assert.match(yield* Effect.promise(() => slow.reply()), /^421 4\.4\.2 /u)
      yield* Effect.promise(() => slow.untilClosed())
      assert.deepStrictEqual(yield* Smtp.accepted(acme.account_id), [])
    }),
  )

  it.effect("mail without a login, and addresses that are none", () =>
    Effect.gen(function* () {
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
    }),
  )
})
