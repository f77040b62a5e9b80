import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import * as Account from "@waybill/domain/Account"
import type { Address } from "@waybill/domain/Address"
import * as Email from "@waybill/domain/Email"
import type { AccountId, EmailId } from "@waybill/domain/Id"
import * as Suppression from "@waybill/domain/Suppression"
import * as Timestamp from "@waybill/domain/Timestamp"
import * as Content from "@waybill/store/Content"
import { EventStore } from "@waybill/store/EventStore"
import * as Rebuild from "@waybill/store/projections/Rebuild"
import { Replay } from "@waybill/store/projections/Replay"
import { swap } from "@waybill/store/projections/Swap"
import { readModels } from "@waybill/store/ReadModels"
import { Effect, Layer, Redacted, Result } from "effect"
import * as Database from "../support/database.ts"
import { id, queued } from "../support/history.ts"
import { runToEnd } from "../support/service.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(url))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)
const TIMEOUT = { timeout: 180_000 }
const OPTIONS = { release: "test" }
const AT = Timestamp.Timestamp.make("2026-11-21T10:00:00.000Z")
const ANA = "Ana@example.org" as Address

const waybill = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Database.Fresh, ({ url }) =>
    Effect.promise(() => runToEnd(args, { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: "/nowhere" })),
  )

/** Every row of every table in which a word stands, in whatever case. */
const standsIn = Effect.fnUntraced(function* (word: string) {
  const sql = yield* PgClient.PgClient
  const tables = yield* sql<{ readonly name: string }>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`
  const found: Array<string> = []
  for (const { name } of tables) {
    const rows = yield* sql<{ readonly text: string }>`
      SELECT t::text AS text FROM ${sql(name)} t WHERE strpos(lower(t::text), ${word.toLowerCase()}) > 0`
    found.push(...rows.map(({ text }) => `${name}: ${text}`))
  }
  return found
}, Effect.orDie)

const words = {
  code: 550,
  enhanced_code: null,
  mx: null,
  tls: null,
  duration_ms: 5,
  category: null,
  attempt: 1,
  at: AT,
}

const account = Effect.gen(function* () {
  const { commit } = yield* EventStore
  const account_id = id("AccountId")
  yield* commit(Account, { account_id, stream_id: account_id }, Account.create(AT, account_id, "Acme", "free"))
  return account_id
}).pipe(Effect.orDie)

interface Mail {
  readonly to: ReadonlyArray<{ readonly address: string; readonly name?: string }>
  readonly text: string
  readonly subject?: string
  readonly after?: ReadonlyArray<Email.Event>
}

const mail = Effect.fnUntraced(function* (account_id: AccountId, { after = [], subject = "Hello", text, to }: Mail) {
  const { transact } = yield* EventStore
  const email_id = id("EmailId")
  const body = Content.encodeBody({ html: null, text })
  const content = { sha256: body.sha256, has_html: false, has_text: true, attachments: [] }
  const events = [queued(email_id, { to, subject, content }), ...after] as const
  yield* transact({
    account_id,
    streams: [{ aggregate: Email, id: email_id, fresh: true }],
    decide: () =>
      Result.succeed({
        append: [{ aggregate: Email, id: email_id, events }],
        content: [{ account_id, ...body, expires_on: "9000-01-01" }],
        answer: null,
      }),
  })
  return email_id
}, Effect.orDie)

const to = (...addresses: ReadonlyArray<string>) => addresses.map((address) => ({ address }))
const bounced = (recipient: string): Email.Event => ({
  _tag: "EmailBounced",
  recipient: recipient as Address,
  bounce_type: "hard",
  ...words,
  response: `<${recipient}>: no such user`,
})
const delivered = (recipient: string): Email.Event => ({
  _tag: "EmailDelivered",
  recipient: recipient as Address,
  ...words,
  response: null,
})
const clicked: Email.Event = {
  _tag: "EmailClicked",
  recipient: ANA,
  url: "https://acme.test/?for=ana%40example.org",
  user_agent: "Lynx",
  ip: "192.0.2.77",
  at: AT,
}

layer(Store, { excludeTestServices: true })("waybill erase", (it) => {
  it.effect(
    "leaves the address in no table, everybody else's mail as it was, and read models that the log folds to",
    () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { commit } = yield* EventStore
        const one = yield* account
        const other = yield* account
        const bounce = yield* mail(one, {
          to: [{ address: ANA, name: "Ana Smith" }],
          subject: "For ana@example.org",
          text: "Dear Ana, your number is 12345",
          after: [bounced(ANA), clicked],
        })
        const both = yield* mail(one, {
          to: to("ana@example.org", "bo@example.org"),
          text: "All of you",
          after: [delivered("ana@example.org"), delivered("bo@example.org")],
        })
        const same = yield* mail(one, {
          to: to("bo@example.org"),
          text: "All of you",
          after: [delivered("bo@example.org")],
        })
        const stranger = yield* mail(other, {
          to: to("diana@example.org"),
          text: "Hi",
          after: [delivered("diana@example.org")],
        })
        const suppress = Suppression.add(AT, id("SuppressionId"), ANA, "hard_bounce", bounce)
        yield* commit(Suppression, { account_id: one, stream_id: Suppression.streamId(ANA) }, suppress)
        // A version that is kept has her too.
        yield* Rebuild.rebuild("email_log", OPTIONS)
        yield* swap("email_log", false)
        const untouched = yield* recordOf(sql, stranger)

        const done = yield* waybill("erase", "ana@example.org", "--json")
        assert.strictEqual(done.code, 0, done.output)
        const { erased_as, ...said } = JSON.parse(done.output)
        assert.deepStrictEqual(said, { streams: 3, events: 6, left: [] })
        for (const word of ["Ana Smith", "192.0.2.77", "Lynx", "ana%40example.org"])
          assert.deepStrictEqual(yield* standsIn(word), [])
        assert.deepStrictEqual(
          (yield* standsIn("ana@example.org")).filter((row) => !row.toLowerCase().includes("diana@example.org")),
          [],
        )
        assert.deepStrictEqual(yield* recordOf(sql, stranger), untouched)
        const record = yield* recordOf(sql, bounce)
        assert.deepInclude(record, { to: [erased_as], subject: `For ${erased_as}`, status: "bounced", clicks: 1 })
        assert.deepInclude(yield* recordOf(sql, both), { to: [erased_as, "bo@example.org"], status: "delivered" })

        // Her own body is gone; what somebody else was sent as well, and does not name her, is not.
        const bodies = yield* sql<{ readonly text: string }>`SELECT convert_from(bytes, 'UTF8') AS text FROM content`
        assert.deepStrictEqual(bodies.map(({ text }) => JSON.parse(text).text).toSorted(), ["All of you", "Hi"])
        assert.isDefined(same)
        for (const { name } of readModels)
          assert.deepStrictEqual([name, (yield* Rebuild.verify(name, OPTIONS)).differences], [name, []])
        const facts = yield* sql<{ readonly account_id: string; readonly data: Readonly<Record<string, unknown>> }>`
          SELECT account_id, data FROM events WHERE type = 'AddressErased'`
        assert.strictEqual(facts.length, 1)
        assert.deepInclude(facts[0]?.data, { erased_as, streams: 3, events: 6 })
        assert.strictEqual(facts[0]?.account_id, one)
        const again = yield* waybill("erase", "ana@example.org", "--json")
        assert.deepInclude(JSON.parse(again.output), { streams: 0, events: 0, left: [] })
      }).pipe(Effect.orDie),
    TIMEOUT,
  )

  it.effect(
    "leaves mail that is under way, says so, and takes it when it is over",
    () =>
      Effect.gen(function* () {
        const { commit } = yield* EventStore
        const account_id = yield* account
        const waiting = yield* mail(account_id, { to: to("cy@example.org"), text: "Soon" })
        const first = yield* waybill("erase", "cy@example.org")
        assert.strictEqual(first.code, 3)
        assert.include(first.output, `left: email ${waiting} of ${account_id}, mail that is under way`)
        assert.isAbove((yield* standsIn("Soon")).length + (yield* standsIn("cy@example.org")).length, 0)
        yield* commit(Email, { account_id, stream_id: waiting }, Email.cancel(AT))
        const second = yield* waybill("erase", "cy@example.org")
        assert.strictEqual(second.code, 0, second.output)
        assert.deepStrictEqual(yield* standsIn("cy@example.org"), [])
      }).pipe(Effect.orDie),
    TIMEOUT,
  )
})

const recordOf = (sql: PgClient.PgClient, email_id: EmailId) =>
  Effect.map(
    sql<{ readonly record: Readonly<Record<string, unknown>> }>`SELECT record FROM email_log WHERE id = ${email_id}`,
    (rows) => rows[0]?.record ?? {},
  )
