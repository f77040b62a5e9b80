import type { Address } from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Clock, Duration, Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { SendMailOptions } from "nodemailer"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import { layerFromMiddle } from "../../support/WallClock.ts"
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
    name: "a domain that is near to one of the account",
    mail: (customer) => mail(customer, { from: `hi@${customer.domain.replace(".", "x.")}` }),
    reply: /^550 5\.7\.1 domain_not_verified: .* Did you mean [\w-]+\.[\w.-]+\?/u,
  },
  {
    name: "a domain that the key may not use",
    key: { keyDomain: "only.test" },
    mail: mail,
    reply: /^550 5\.7\.1 domain_not_allowed: /u,
  },
  {
    name: "more recipients than the plan allows",
    key: { plan: "free" },
    mail: (customer) => mail(customer, { to: many(11) }),
    reply: /^554 5\.5\.3 recipient_limit_exceeded: The Free plan allows 10 /u,
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
    name: "tracking where nothing can be tracked",
    mail: (customer) => mail(customer, { headers: { "X-Track-Opens": "true" } }),
    reply: /^554 5\.6\.0 tracking_unavailable: /u,
  },
  {
    name: "a word for tracking that is none",
    mail: (customer) => mail(customer, { headers: { "X-Track-Clicks": "maybe" } }),
    reply: /^554 5\.6\.0 validation_failed: `tracking\.clicks` /u,
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
    name: "a header twice that a message has once",
    mail: (customer) => mail(customer, { headers: { "List-Id": ["a.acme.test", "b.acme.test"] } }),
    reply: /^554 5\.6\.0 validation_failed: `headers\.List-ID` must appear only once/iu,
  },
  {
    name: "a header more often than its name can be spelled",
    mail: (customer) => mail(customer, { headers: { "X-1": ["a", "b", "c"] } }),
    reply: /^554 5\.6\.0 validation_failed: `headers\.X-1` must appear only once/u,
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
    reply: /^554 5\.6\.0 validation_failed: `from` must be a single address/u,
  },
  {
    name: "two From headers",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nFrom: eve@evil.test\r\nTo: ana@example.org\r\nSubject: s\r\n\r\nhi\r\n`,
    }),
    reply: /^554 5\.6\.0 validation_failed: `from` must be a single address/u,
  },
  ...["; boundary=c", ""].map((boundary) => ({
    name: `a multipart that is all preamble${boundary}`,
    mail: (customer: Smtp.Customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nSubject: s\r\nContent-Type: multipart/mixed${boundary}\r\n\r\n--b\r\n\r\nhi\r\n--b--\r\n`,
    }),
    reply: /^554 5\.6\.0 The message declares a multipart type/u,
  })),
  {
    name: "two subjects",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nSubject: one\r\nsubject: two\r\n\r\nhi\r\n`,
    }),
    reply: /^554 5\.6\.0 validation_failed: `subject` must appear only once/u,
  },
  {
    name: "a message that is signed as a whole and has a long line",
    mail: (customer) => ({
      envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
      raw: `From: hi@${customer.domain}\r\nTo: ana@example.org\r\nSubject: s\r\nContent-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\n${"x".repeat(999)}\r\n--b--\r\n`,
    }),
    reply: /^554 5\.6\.0 The message is signed or encrypted as a whole, and has a line of more than 998 bytes/u,
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
    reply: /^552 5\.3\.4 The message has too many lines/u,
  },
  {
    name: "a bomb of addresses",
    mail: (customer) => bomb(customer, `Cc: ${"a@b.cc,\r\n ".repeat(2100)}a@b.cc\r\n\r\nhi`),
    reply: /^552 5\.3\.4 The message has more than 2000 addresses/u,
  },
]

/** Time limit of a refusal, which parsing without limits would exceed by far. */
const HANGS = Duration.seconds(30)

const bomb = (customer: Smtp.Customer, rest: string): SendMailOptions => ({
  envelope: { from: `hi@${customer.domain}`, to: "ana@example.org" },
  raw: `From: hi@${customer.domain}\r\nTo: ana@example.org\r\nSubject: s\r\n${rest}\r\n`,
})

const aboveQuota = Effect.gen(function* () {
  const port = yield* Smtp.submission()
  const acme = yield* Smtp.customer({ plan: "free" })
  const sql = yield* Sql
  const month = Timestamp.fromMillis(yield* Clock.currentTimeMillis).slice(0, 7)
  // As after 2,999 messages, which would take minutes to send.
  yield* sql`INSERT INTO monthly_usage (account_id, month, accepted) VALUES (${acme.account_id}, ${month}, 2999)`
  assert.match(yield* Smtp.send(port, acme.secret, mail(acme)), /^250 /u)
  assert.match(yield* Smtp.send(port, acme.secret, mail(acme)), /^452 4\.2\.2 monthly_quota: .*Retry after \d+ s\.$/u)
})

layer(Smtp.layer, { excludeTestServices: true })("SMTP submission refuses", (it) => {
  for (const each of CASES) {
    it.effect(
      each.name,
      () =>
        Effect.gen(function* () {
          const port = yield* Smtp.submission()
          const customer = yield* Smtp.customer(each.key ?? {})
          assert.match(yield* Smtp.send(port, customer.secret, each.mail(customer)), each.reply)
          assert.deepStrictEqual(yield* Smtp.accepted(customer.account_id), [])
        }).pipe(Effect.timeout(HANGS)),
      { timeout: 2 * Duration.toMillis(HANGS) },
    )
  }

  it.effect("mail whose recipients are all suppressed", function* () {
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
  })

  it.effect("mail above the monthly quota, and says when it resets", () => Effect.provide(aboveQuota, layerFromMiddle))
})
