import * as StoredContent from "@waybill/store/content/StoredContent"
import { rowsOf } from "@waybill/store/log/BatchTable"
import * as Account from "@waybill/domain/account/Account"
import type { Address } from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmailLogRecord from "@waybill/store/readmodels/emails/EmailLogRecord"
import * as Content from "@waybill/store/content/Content"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as Erase from "@waybill/store/erasure/Erase"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Mask from "@waybill/store/erasure/Mask"
import * as Rebuild from "@waybill/store/rebuild/Rebuild"
import { lockReadModel, Replay } from "@waybill/store/rebuild/versions/Replay"
import * as Swap from "@waybill/store/rebuild/Swap"
import * as RebuildMarkers from "@waybill/store/rebuild/RebuildMarkers"
import * as ReadModels from "@waybill/store/commit/ReadModels"
import { Effect, Layer, Result } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { followLog } from "../../support/postgres/followLog.ts"
import * as World from "../../support/world/World.ts"
import { id, queued } from "../../support/history.ts"
import { asService, replayUrls } from "../../support/cells/testCell.ts"

const Store = Layer.unwrap(Effect.map(Database.Fresh, ({ url }) => Replay.layer(...replayUrls(url)))).pipe(
  Layer.provideMerge(EventStore.layer()),
  Layer.provideMerge(Database.layerFresh),
)
const TIMEOUT = { timeout: 180_000 }
const OPTIONS = { release: "test" }
const AT = Timestamp.Timestamp.make("2026-11-21T10:00:00.000Z")
const ANA = "Ana@example.org" as Address

const waybill = CommandLine.toEnd

/** Returns every row of every table that contains a word, in any case; bytes are read as text. */
const standsIn = Effect.fnUntraced(function* (word: string) {
  const sql = yield* Sql
  const tables = yield* sql<{ readonly name: string; readonly bytes: ReadonlyArray<string> }>`
    SELECT t.tablename AS name, array(
      SELECT attname::text FROM pg_attribute
      WHERE attrelid = t.tablename::regclass AND atttypid = 'bytea'::regtype AND NOT attisdropped
    ) AS bytes
    FROM pg_tables t WHERE t.schemaname = current_schema() ORDER BY 1`
  const found: Array<string> = []
  for (const { bytes, name } of tables) {
    const whole = sql.literal(
      ["t::text", ...bytes.map((column) => `coalesce(encode(t.${column}, 'escape'), '')`)].join(" || ' ' || "),
    )
    const rows = yield* sql<{ readonly text: string }>`
      SELECT text FROM (SELECT ${whole} AS text FROM ${sql(name)} t) AS t WHERE strpos(lower(text), ${word.toLowerCase()}) > 0`
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
  readonly from?: string
  readonly tags?: ReadonlyArray<string>
  readonly metadata?: Readonly<Record<string, string>>
  readonly subject?: string
  readonly after?: ReadonlyArray<Email.Event>
}

const mail = Effect.fnUntraced(function* (
  account_id: AccountId,
  { after = [], from = "hi@acme.test", subject = "Hello", metadata, tags = [], text, to }: Mail,
) {
  const { transact } = yield* EventStore
  const email_id = id("EmailId")
  const body = Content.encodeBody({ html: null, text })
  const content = { sha256: body.sha256, has_html: false, has_text: true, attachments: [] }
  const events = [
    queued(email_id, { to, from: { address: from }, subject, tags, content, ...(metadata && { metadata }) }),
    ...after,
  ] as const
  yield* transact({
    account_id,
    streams: [{ aggregate: Email, id: email_id, isNew: true }],
    decide: () =>
      Result.succeed({
        append: [{ aggregate: Email, id: email_id, events }],
        rows: [rowsOf(StoredContent.table, [{ account_id, ...body, expires_on: "9000-01-01" }])],
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
    "removes the address from all tables, leaves other mail unchanged, and read models still match the log",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const { commit } = yield* EventStore
        const one = yield* account
        const other = yield* account
        const bounce = yield* mail(one, {
          to: [{ address: ANA, name: "Ana Smith" }],
          subject: "For ana@example.org",
          text: "Dear Ana, your number is 12345",
          after: [bounced(ANA), clicked],
        })
        // Counted for her under either spelling of her address as a tag, and for everybody.
        const tags = ["Ana@example.org", "ana@example.org", "vip"]
        const both = yield* mail(one, {
          tags,
          metadata: { customer: "ANA@example.org", "ana@example.org": "vip" },
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
        // The previous version of a swap contains her address too.
        yield* Rebuild.rebuild("email_log", OPTIONS)
        yield* Swap.swap("email_log", false)
        const untouched = yield* recordOf(sql, other, stranger)
        yield* followLog

        const done = yield* waybill("erase", "ana@example.org", "--yes", "--json")
        assert.strictEqual(done.code, 0, done.output)
        const { erased_as, ...said } = JSON.parse(done.output)
        assert.deepStrictEqual(said, { streams: 3, events: 6, remaining: [] })
        for (const word of ["Ana Smith", "192.0.2.77", "Lynx", "ana%40example.org"])
          assert.deepStrictEqual(yield* standsIn(word), [])
        assert.deepStrictEqual(
          (yield* standsIn("ana@example.org")).filter((row) => !row.toLowerCase().includes("diana@example.org")),
          [],
        )
        assert.deepStrictEqual(yield* recordOf(sql, other, stranger), untouched)
        const record = yield* recordOf(sql, one, bounce)
        assert.deepInclude(record, { to: [erased_as], subject: `For ${erased_as}`, status: "bounced", clicks: 1 })
        assert.deepInclude(yield* recordOf(sql, one, both), {
          to: [erased_as, "bo@example.org"],
          status: "delivered",
          metadata: { customer: erased_as, [erased_as]: "vip" },
        })
        const found = yield* EmailLogQuery.list({ account_id: one, limit: 10, metadata: { customer: erased_as } })
        assert.deepStrictEqual(
          found.data.map((each) => each["id"]),
          [both],
        )

        const counted = yield* sql`
          SELECT tag, count::int FROM email_stats WHERE account_id = ${one} AND measure = 'accepted' AND tag > ' ' ORDER BY 1`
        assert.deepStrictEqual(counted, [
          { tag: erased_as, count: 4 },
          { tag: "vip", count: 2 },
        ])

        // The body sent only to her is removed; a body that others got too and that does not name her is not.
        const bodies = yield* sql<{ readonly text: string }>`SELECT convert_from(bytes, 'UTF8') AS text FROM content`
        assert.deepStrictEqual(bodies.map(({ text }) => JSON.parse(text).text).toSorted(), ["All of you", "Hi"])
        assert.isDefined(same)
        for (const { name } of ReadModels.readModels)
          assert.deepStrictEqual([name, (yield* Rebuild.verify(name, OPTIONS)).differences], [name, []])
        const facts = yield* sql<{ readonly account_id: string; readonly data: Readonly<Record<string, unknown>> }>`
          SELECT account_id, data FROM events WHERE type = 'AddressErased'`
        assert.strictEqual(facts.length, 1)
        assert.deepInclude(facts[0]?.data, { erased_as, streams: 3, events: 6 })
        assert.strictEqual(facts[0]?.account_id, one)
        const again = yield* waybill("erase", "ana@example.org", "--yes", "--json")
        assert.deepInclude(JSON.parse(again.output), { streams: 0, events: 0, remaining: [] })
      }).pipe(Effect.orDie),
    TIMEOUT,
  )

  it.effect(
    "removes it from mail to others and from data besides the log",
    () =>
      Effect.gen(function* () {
        const sql = yield* Sql
        const account_id = yield* account
        const bo = { to: to("bo@example.org"), after: [delivered("bo@example.org")] }
        for (const text of [
          "Dee@Example.org joined",
          "https://acme.test/?u=dee%40example.org",
          "deer@example.org joined",
        ])
          yield* mail(account_id, { ...bo, text })
        yield* mail(account_id, { ...bo, from: "dee@example.org", text: "From me" })
        yield* mail(account_id, { to: to("dee@example.org"), after: [delivered("dee@example.org")], text: "For you" })
        const due = yield* mail(account_id, { to: to("bo@example.org"), text: "Ask dee@example.org" })
        const captured = [
          ["her", "dee@example.org", "Hi", "Hi"],
          ["subject", "bo@example.org", "Dee@example.org joined", "Hi"],
          ["quoted", "bo@example.org", "Hi", "X: y\r\n\r\njoined: dee@ex=\r\nample.org"],
          [
            "base64",
            "bo@example.org",
            "Hi",
            `X: y\r\n\r\n${Buffer.from("It is dee@example.org").toString("base64")}\r\n`,
          ],
          ["other", "bo@example.org", "Hi", "Hi, deer@example.org"],
          ["large", "bo@example.org", "Hi", `X: y\r\n\r\n${`${"A".repeat(76)}\r\n`.repeat(200_000)}`],
        ] as const
        for (const [name, recipient, subject, text] of captured)
          yield* sql`
            INSERT INTO sandbox_messages (account_id, id, recipients, subject, mail_from, size_bytes, bytes, expires_at)
            VALUES (${account_id}, ${name}, ${[recipient]}::text[], ${subject}, 'b@acme.test', 1, ${Buffer.from(text)},
              now() + interval '1 day')`
        yield* sql`
          INSERT INTO idempotency_keys (account_id, route, key, fingerprint, answer, expires_at)
          VALUES (${account_id}, 'POST /suppressions', 'k', 'f', ${Buffer.from('{"id":"sup_1","email":"dee@example.org"}')},
            now() + interval '1 day')`

        const done = yield* waybill("erase", "dee@example.org", "--yes", "--json")
        assert.strictEqual(done.code, 3, done.output)
        const [said = ""] = done.output.split("\n")
        const { erased_as, remaining } = JSON.parse(said)
        const why = "content of mail in progress: cancel the mail, or run this again when it is final"
        const { sha256 } = Content.encodeBody({ html: null, text: "Ask dee@example.org" })
        assert.deepStrictEqual(remaining, [{ account_id, stream: "content", stream_id: sha256, why }])
        const texts = Effect.map(
          sql<{ readonly text: string }>`
            SELECT convert_from(bytes, 'UTF8')::json ->> 'text' AS text FROM content WHERE account_id = ${account_id} ORDER BY 1`,
          (rows) => rows.map(({ text }) => text),
        )
        assert.deepStrictEqual(yield* texts, ["Ask dee@example.org", "From me", "deer@example.org joined"])
        const kept = yield* sql`SELECT id FROM sandbox_messages WHERE account_id = ${account_id} ORDER BY id`
        assert.deepStrictEqual(kept, [{ id: "large" }, { id: "other" }])
        yield* sql`DELETE FROM sandbox_messages WHERE id = 'large'`
        const [answer] = yield* sql<{ readonly text: string }>`
          SELECT convert_from(answer, 'UTF8') AS text FROM idempotency_keys WHERE account_id = ${account_id}`
        assert.deepStrictEqual(JSON.parse(answer?.text ?? ""), { id: "sup_1", email: erased_as })

        const { commit } = yield* EventStore
        yield* commit(Email, { account_id, stream_id: due }, Email.cancel(AT))
        assert.strictEqual((yield* waybill("erase", "dee@example.org", "--yes")).code, 0)
        assert.deepStrictEqual(yield* texts, ["From me", "deer@example.org joined"])
        assert.deepStrictEqual(yield* standsIn("dee@example.org"), [])
        assert.deepStrictEqual(yield* standsIn("dee%40example.org"), [])
      }).pipe(Effect.orDie),
    TIMEOUT,
  )

  it.effect("shows what it would erase, asks first, and erases nothing without a yes", () =>
    Effect.gen(function* () {
      const account_id = yield* account
      const zoe = "zoe@example.org"
      yield* mail(account_id, { to: to(zoe), after: [delivered(zoe)], text: "Dear Zoe" })
      const before = yield* standsIn(zoe)
      const histories = [{ kind: "email", histories: 1, accounts: 1 }]
      assert.deepStrictEqual(yield* CommandLine.typed("erase", zoe, "--dry-run"), {
        dry_run: true,
        histories,
        remaining: [],
      })
      const preview = `${zoe} would be replaced in 1 history, and their contents removed.`
      assert.include((yield* CommandLine.type("erase", zoe, "--dry-run")).output, `${preview}\nkind `)
      const unasked = yield* CommandLine.type("erase", zoe)
      assert.strictEqual(
        unasked.errors,
        "waybill: Erasing cannot be undone. Confirm with --yes, or use --dry-run to see what would be erased.",
      )
      const declined = yield* CommandLine.typeAndAnswer(["n"], "erase", zoe)
      assert.include(declined.output, preview)
      assert.include(declined.output, `Erase ${zoe}? This cannot be undone.`)
      assert.strictEqual(declined.errors, "waybill: Nothing was erased.")
      assert.isNotEmpty(before)
      assert.deepStrictEqual(yield* standsIn(zoe), before)
      assert.include((yield* CommandLine.typeAndAnswer(["y"], "erase", zoe)).output, "Replaced the address by ")
      assert.deepStrictEqual(yield* standsIn(zoe), [])
    }).pipe(Effect.orDie),
  )

  it.effect("removes nothing while an affected read model is being rebuilt", () =>
    Effect.gen(function* () {
      const account_id = yield* account
      const end = [delivered("eve@example.org")]
      yield* mail(account_id, { to: to("eve@example.org"), after: end, text: "Dear Eve" })
      const erase = Erase.erase("eve@example.org" as Address, Mask.replacement(Uint8Array.of(7)))
      const refused = yield* Effect.scoped(Effect.andThen(lockReadModel("suppressions"), Effect.result(erase)))
      // With several cells it goes on in the others.
      const why = Result.isFailure(refused) ? refused.failure.message : refused.success.refused[0]?.why
      assert.strictEqual(why, "suppressions is being rebuilt: try again when the rebuild has ended")
      assert.isNotEmpty(yield* standsIn("Dear Eve"))
      yield* World.until(RebuildMarkers.inProgress(), (all) => all.length === 0)
      assert.deepStrictEqual((yield* erase).remaining, [])
      assert.deepStrictEqual([...(yield* standsIn("Dear Eve")), ...(yield* standsIn("eve@example.org"))], [])
    }).pipe(Effect.orDie),
  )

  it.effect("deletes the users of former members, even with letters that not every database can lowercase", () =>
    Effect.gen(function* () {
      const sql = yield* Sql
      for (const [id, email] of [
        ["usr_1", "ÄNN@example.org"],
        ["usr_2", "bänn@example.org"],
      ] as const)
        yield* asService(sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${email}, now())`)
      yield* Erase.erase("änn@example.org" as Address, Mask.replacement(Uint8Array.of(8)))
      assert.deepStrictEqual(yield* asService(sql`SELECT id FROM users`), [{ id: "usr_2" }])
    }).pipe(Effect.orDie),
  )

  it.effect(
    "leaves mail in progress, reports it, and removes it once it is final",
    () =>
      Effect.gen(function* () {
        const { commit } = yield* EventStore
        const account_id = yield* account
        const waiting = yield* mail(account_id, { to: to("cy@example.org"), text: "Soon" })
        const first = yield* waybill("erase", "cy@example.org", "--yes")
        assert.strictEqual(first.code, 3)
        assert.include(first.output, `remaining: email ${waiting} of ${account_id}, mail in progress`)
        assert.isAbove((yield* standsIn("Soon")).length + (yield* standsIn("cy@example.org")).length, 0)
        yield* commit(Email, { account_id, stream_id: waiting }, Email.cancel(AT))
        const second = yield* waybill("erase", "cy@example.org", "--yes")
        assert.strictEqual(second.code, 0, second.output)
        assert.deepStrictEqual(yield* standsIn("cy@example.org"), [])
      }).pipe(Effect.orDie),
    TIMEOUT,
  )
})

const recordOf = (sql: Sql, account_id: string, email_id: EmailId) =>
  Effect.map(EmailLogRecord.find(sql, account_id, [email_id]), (records) => records.get(email_id) ?? {})
