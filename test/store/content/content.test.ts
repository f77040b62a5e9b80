import { PgTypes } from "@effect/sql-pg"
import type * as DomainContent from "@waybill/domain/email/Content"
import * as Content from "@waybill/store/content/Content"
import { neededContent } from "@waybill/store/content/neededContent"
import * as Layout from "@waybill/store/packed/Layout"
import * as StoredContent from "@waybill/store/content/StoredContent"
import { BatchRows, rowsOf } from "@waybill/store/log/BatchTable"
import { Effect, Option, Result } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"

const keep = Effect.fnUntraced(function* (
  account_id: string,
  blobs: ReadonlyArray<Content.Blob>,
  expires_in_days = 30,
) {
  const sql = yield* Sql
  yield* sql`
    INSERT INTO content (account_id, sha256, bytes, expires_on, uses)
    SELECT ${account_id}, decode(sha256, 'hex'), bytes, (now() AT TIME ZONE 'UTC')::date + ${expires_in_days}::int, 1
    FROM unnest(${blobs.map((blob) => blob.sha256)}::text[],
      ${Result.getOrThrow(
        PgTypes.array(
          blobs.map((blob) => blob.bytes),
          PgTypes.OID.bytea,
        ),
      )}) AS new(sha256, bytes)`
})

const attachmentOf = ({ bytes, sha256 }: Content.Blob): DomainContent.Attachment => ({
  filename: "invoice.pdf",
  content_type: "application/pdf",
  size_bytes: bytes.length,
  content_id: null,
  sha256,
})
const contentOf = (body: Content.Blob, attachments: ReadonlyArray<Content.Blob> = []): DomainContent.Content => ({
  sha256: body.sha256,
  has_html: true,
  has_text: true,
  attachments: attachments.map(attachmentOf),
})

/** Inserts a message that waits for delivery, with its event and outbox row. */
const insertWaiting = Effect.fnUntraced(function* (
  account_id: string,
  email_id: string,
  content: DomainContent.Content,
) {
  const sql = yield* Sql
  yield* sql`
    INSERT INTO events (position, account_id, stream_id, version, stream, type, event_id, data, meta, recorded_at)
    VALUES (nextval('event_position'), ${account_id}, ${email_id}, 1, 'email', 'EmailQueued',
      ${`evt_${email_id}`}, ${sql.json({ content })}, '{}', now())`
  yield* sql`
    INSERT INTO outbox (id, account_id, kind, stream_id, available_at, payload)
    VALUES (${email_id}, ${account_id}, 'delivery', ${email_id}, now(), '{}')`
})

describe("a body", () => {
  it("is the same blob for the same text", () => {
    const [one, same, other] = [
      { html: "<b>ü</b>", text: null },
      { text: null, html: "<b>ü</b>" },
      { html: null, text: "ü" },
    ].map(Content.encodeBody)
    assert.deepStrictEqual([one?.sha256 === same?.sha256, one?.sha256 === other?.sha256], [true, false])
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("content", (it) => {
  it.effect("is compressed if that makes it smaller, and counted each time it is used", function* () {
    const { driver } = yield* Sql
    const account_id = id("AccountId")
    const random = Buffer.concat(
      Array.from({ length: 60 }, (_, n) => Buffer.from(Content.blob(Buffer.of(n)).sha256, "hex")),
    )
    const bodies = [Buffer.from("small"), Buffer.from("a word ".repeat(100)), random, Buffer.alloc(100_000, "a")]
    const blobs = bodies.map(Content.blob)
    const rows = [...blobs, ...blobs].map((blob) => ({ account_id, ...blob, expires_on: "2999-01-01" }))
    for (const content of [rows, rows.slice(0, 1)]) {
      const batch = { changedStreams: [], rows: new BatchRows(), now: "", isPerTable: false }
      rowsOf(StoredContent.table, content)(batch.rows)
      for (const write of StoredContent.table.write(driver, batch).simple ?? []) yield* driver`${write}`
    }
    const found = yield* Content.findAll(
      account_id,
      blobs.map(({ sha256 }) => sha256),
    )
    assert.deepStrictEqual(
      blobs.map(({ sha256 }) => found.get(sha256)),
      blobs.map(({ bytes }) => bytes),
    )
    const stored = yield* driver<{ readonly sha256: string; readonly compressed: boolean; readonly uses: number }>`
      SELECT encode(sha256, 'hex') AS sha256, compressed, uses FROM content WHERE account_id = ${account_id}`
    const of = ({ sha256 }: Content.Blob) => stored.find((row) => row.sha256 === sha256)
    assert.deepStrictEqual(
      blobs.map((blob) => [of(blob)?.compressed, of(blob)?.uses]),
      [
        [false, 3],
        [true, 2],
        [false, 2],
        [false, 2],
      ],
    )
  })

  it.effect("is returned as it was stored, bodies and attachments", function* () {
    const body = Content.encodeBody({ html: "<p>Grüße 📮</p>", text: "\u0000 lone \ud800 surrogate" })
    const file = Content.blob(Uint8Array.from({ length: 256 }, (_, i) => i))
    yield* keep("acc_1", [body, file])
    const whole = yield* Content.findComplete("acc_1", contentOf(body, [file, file]))
    assert.deepStrictEqual(
      Option.map(whole, ({ attachments, html, text }) => [html, text, attachments.map((each) => [...each.bytes])]),
      Option.some(["<p>Grüße 📮</p>", "\u0000 lone \ud800 surrogate", [[...file.bytes], [...file.bytes]]]),
    )
  })

  // threat: tenants
  it.effect("of another account is not found, even if the bytes are equal", function* () {
    const body = Content.encodeBody({ html: null, text: "secret" })
    yield* keep("acc_2", [body])
    assert.deepStrictEqual(yield* Content.findBody("acc_3", contentOf(body)), Option.none())
  })

  it.effect("without one of its attachments is incomplete, but its body can be shown", function* () {
    const body = Content.encodeBody({ html: null, text: "see attachment" })
    yield* keep("acc_4", [body])
    const content = contentOf(body, [Content.blob(Uint8Array.of(1, 2, 3))])
    assert.deepStrictEqual(
      [yield* Content.findComplete("acc_4", content), yield* Content.findBody("acc_4", content)],
      [Option.none(), Option.some({ html: null, text: "see attachment" })],
    )
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("needed content", (it) => {
  it.effect(
    "is the bodies and attachments of messages still to be delivered, however their events are stored",
    function* () {
      const sql = yield* Sql
      const [body, file, packed] = ["body", "file", "packed"].map((text) => Content.encodeBody({ html: null, text }))
      assert(body !== undefined && file !== undefined && packed !== undefined)
      const accounts = ["acc_1", "acc_2"]
      yield* insertWaiting("acc_1", "msg_1", contentOf(body, [file]))
      yield* insertWaiting("acc_2", "msg_2", contentOf(packed, [file]))
      yield* insertWaiting("acc_3", "msg_3", contentOf(body))
      // The same message of a webhook, and one that is delivered.
      yield* insertWaiting("acc_1", "msg_4", contentOf(packed))
      yield* sql`UPDATE outbox SET kind = 'webhook' WHERE id = 'msg_4'`
      yield* insertWaiting("acc_2", "msg_5", contentOf(body))
      yield* sql`DELETE FROM outbox WHERE id = 'msg_5'`
      const text = `${"\t".repeat(Layout.tokenOf("EmailQueued", "content") - 1)}\\${JSON.stringify(contentOf(packed, [file]))}`
      yield* sql`UPDATE events SET packed = ${text}, data = NULL, meta = NULL WHERE stream_id = 'msg_2'`
      const rows = yield* sql<{ readonly needed: string }>`
      SELECT account_id || ' ' || encode(sha256, 'hex') AS needed
      FROM (${neededContent(sql, sql`${sql.in(accounts)}`)}) AS content ORDER BY needed`
      assert.deepStrictEqual(
        rows.map(({ needed }) => needed),
        [`acc_1 ${body.sha256}`, `acc_1 ${file.sha256}`, `acc_2 ${packed.sha256}`, `acc_2 ${file.sha256}`].toSorted(),
      )
    },
  )
})

layer(Database.layerFresh, { excludeTestServices: true })("the expiry of content", (it) => {
  it.effect("removes expired content and keeps content with a day left", function* () {
    const [old, fresh] = [
      Content.encodeBody({ html: null, text: "old" }),
      Content.encodeBody({ html: null, text: "fresh" }),
    ]
    yield* keep("acc_1", [old], -2)
    yield* keep("acc_1", [fresh], 0)
    const removed = yield* Content.expire()
    const left = yield* Content.findAll("acc_1", [old.sha256, fresh.sha256])
    assert.deepStrictEqual([removed, [...left.keys()]], [1, [fresh.sha256]])
  })

  it.effect("keeps the content of messages still to be delivered", function* () {
    const sql = yield* Sql
    const [body, file, other] = ["body", "file", "other"].map((text) => Content.encodeBody({ html: null, text }))
    assert(body !== undefined && file !== undefined && other !== undefined)
    yield* keep("acc_5", [body, file, other], -400)
    // The same bytes in an account without waiting mail.
    yield* keep("acc_6", [body], -400)
    yield* insertWaiting("acc_5", "msg_5", contentOf(body, [file]))
    const first = yield* Content.expire()
    yield* sql`DELETE FROM outbox WHERE id = 'msg_5'`
    assert.deepStrictEqual([first, yield* Content.expire()], [2, 2])
  })

  it.effect("continues past a whole batch that has to stay", function* () {
    const sql = yield* Sql
    const blobs = Array.from({ length: Content.EXPIRY_BATCH + 10 }, (_, n) =>
      Content.encodeBody({ html: null, text: `${n}` }),
    )
    const [first = Content.blob(Uint8Array.of())] = blobs
    yield* keep("acc_7", blobs, -400)
    yield* insertWaiting("acc_7", "msg_7", contentOf(first, blobs.slice(0, Content.EXPIRY_BATCH)))
    yield* keep("acc_8", blobs, -300)
    const removed = yield* Content.expire()
    const [row] = yield* sql<{
      readonly n: number
    }>`SELECT count(*)::int AS n FROM content WHERE account_id IN ('acc_7', 'acc_8')`
    assert.deepStrictEqual([removed, row?.n], [10 + blobs.length, Content.EXPIRY_BATCH])
  })
})
