import * as Content from "@waybill/store/content/Content"
import * as ContentTemplates from "@waybill/store/content/ContentTemplates"
import * as Difference from "@waybill/store/content/Difference"
import * as EraseContent from "@waybill/store/erasure/EraseContent"
import * as Mask from "@waybill/store/erasure/Mask"
import type { Address } from "@waybill/domain/values/Address"
import { Effect, Option } from "effect"
import { createHash } from "node:crypto"
import * as SqlErrors from "@waybill/store/postgres/SqlErrors"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as World from "../../support/world/World.ts"
import { message } from "../../bench/accept/templates.ts"

const TEMPLATES = 5
const bodyOf = (n: number) => {
  const { html, text } = message(n)
  return Content.encodeBody({ html, text })
}

describe("a body of a template", () => {
  it("takes a tenth of its bytes, from the fourth on", () => {
    const templates = new ContentTemplates.ContentTemplates()
    const ids = new Set<string>()
    for (let n = 0; n < 100; n++) {
      const { bytes } = bodyOf(n)
      const stored = templates.compress("acc_1", bytes, `person ${n}`)
      if (n < TEMPLATES * ContentTemplates.RECIPIENTS_IN_COMMON) continue
      assert.isBelow(stored.bytes.length, bytes.length / 10)
      ids.add(Buffer.from(stored.template?.id ?? []).toString("hex"))
    }
    assert.isAtMost(ids.size, TEMPLATES)
  })

  it("has a template of its own if it has little in common with the others", () => {
    const templates = new ContentTemplates.ContentTemplates()
    const letter = (n: number, word: string) =>
      Buffer.from(`<p>${n}</p>${`<p>A sentence about ${word} that all of these letters have.</p>`.repeat(10)}`)
    const idOf = (n: number, word: string) =>
      Buffer.from(templates.compress("acc_1", letter(n, word), `person ${n}`).template?.id ?? []).toString("hex")
    const last = ["snow", "rain", "wind"].map((word) => [1, 2, 3, 4].map((n) => idOf(n, word)).at(-1))
    assert.strictEqual(new Set(last).size, 3)
    assert.deepStrictEqual(
      ["snow", "rain", "wind"].map((word) => idOf(5, word)),
      last,
    )
  })

  it("is compressed with nothing that another account sent", () => {
    const templates = new ContentTemplates.ContentTemplates()
    for (let n = 0; n < 50; n++) templates.compress("acc_1", bodyOf(n).bytes, `person ${n}`)
    assert.isUndefined(templates.compress("acc_2", bodyOf(50).bytes, "person 50").template)
  })

  it("leaves names, codes and addresses out of the template", () => {
    const templates = new ContentTemplates.ContentTemplates()
    const seen = new Set<string>()
    for (let n = 0; n < 60; n++) {
      const body = Content.encodeBody({
        html: `<p>Dear person ${n}</p><p>Your number is ${n * 977}.</p><p>Write to ana@example.org or ana%40example.org.</p>
          <p>${"This is what everybody reads, and it is the same for all. ".repeat(5)}</p>`,
        text: null,
      })
      const { template } = templates.compress("acc_1", body.bytes, `person ${n}`)
      if (template !== undefined) seen.add(Buffer.from(template.bytes).toString())
    }
    assert.isNotEmpty([...seen])
    for (const text of seen) assert.notMatch(text, /person|\d{3}|ana/u)
  })

  it("teaches nothing if only one person gets it, however often", () => {
    const templates = new ContentTemplates.ContentTemplates()
    for (let n = 0; n < 50; n++) {
      assert.isUndefined(templates.compress("acc_1", bodyOf(n).bytes, "ana").template)
      assert.isUndefined(templates.compress("acc_1", bodyOf(n).bytes, undefined).template)
    }
  })

  it("has no template if it consists of very many parts, and takes no longer then", () => {
    const templates = new ContentTemplates.ContentTemplates()
    const bytes = Buffer.from("<a>".repeat(Difference.MOST_BYTES / 3))
    for (let n = 0; n < 10; n++) assert.isUndefined(templates.compress("acc_1", bytes, `person ${n}`).template)
  })

  it("is left alone if it is too small, too large, or cannot be made smaller", () => {
    const templates = new ContentTemplates.ContentTemplates()
    const random = Buffer.concat(Array.from({ length: 60 }, (_, n) => createHash("sha256").update(`${n}`).digest()))
    for (const bytes of [Buffer.from("short"), Buffer.alloc(Difference.MOST_BYTES + 1, "a"), random])
      assert.deepStrictEqual(templates.compress("acc_1", bytes, "ana"), {
        bytes,
        compressed: false,
        template: undefined,
      })
  })
})

const send = Effect.fnUntraced(function* (domain: World.SendingDomain, n: number) {
  const body = bodyOf(n)
  const content = { sha256: body.sha256, has_html: true, has_text: true, attachments: [] }
  yield* World.send(domain, { content, to: [{ address: `person${n}@example.org` }] }, body)
  return content
})
const bodyTextOf = (account_id: string, content: Parameters<typeof Content.findBody>[1]) =>
  Effect.map(
    Content.findBody(account_id, content),
    Option.map(({ html }) => html),
  )

layer(World.layer, { excludeTestServices: true })("content of templates", (it) => {
  it.effect("is read as it was sent, and stored compressed", function* () {
    const sql = yield* Sql
    const domain = yield* World.verifiedDomain("acme.test", id("AccountId"), false)
    const sent = yield* Effect.forEach(
      Array.from({ length: 40 }, (_, n) => n),
      (n) => send(domain, n),
    )
    for (const [n, content] of sent.entries())
      assert.deepStrictEqual(yield* bodyTextOf(domain.account_id, content), Option.some(message(n).html))
    const [stored] = yield* sql<{ readonly templates: number; readonly compressed: number }>`
      SELECT count(DISTINCT template)::int AS templates, count(*) FILTER (WHERE compressed)::int AS compressed
      FROM content WHERE account_id = ${domain.account_id}`
    assert.deepStrictEqual(stored, { templates: 1, compressed: 40 })
  })

  it.effect("cannot lose a template that it needs", function* () {
    const { driver } = yield* Sql
    const error = yield* Effect.flip(driver`DELETE FROM content_templates`)
    assert.strictEqual(SqlErrors.sqlState(error), "23503")
  })

  it.effect("is accepted with a template that the expiry removed meanwhile", function* () {
    const sql = yield* Sql
    const domain = yield* World.verifiedDomain("acme.test", id("AccountId"), false)
    for (let n = 0; n < 5 * TEMPLATES; n++) yield* send(domain, n)
    yield* sql`UPDATE content SET expires_on = '2000-01-01' WHERE account_id = ${domain.account_id}`
    yield* sql`DELETE FROM outbox WHERE account_id = ${domain.account_id}`
    yield* sql`UPDATE content_templates SET created_at = now() - interval '2 days'`
    const left = sql<{ readonly n: number }>`
      SELECT count(*)::int AS n FROM content_templates WHERE account_id = ${domain.account_id}`
    assert.deepStrictEqual(yield* left, [{ n: 1 }])
    yield* Content.expire()
    assert.deepStrictEqual(yield* left, [{ n: 0 }])
    const content = yield* send(domain, 100)
    assert.deepStrictEqual(yield* left, [{ n: 1 }])
    assert.deepStrictEqual(yield* bodyTextOf(domain.account_id, content), Option.some(message(100).html))
  })

  it.effect("is kept without its template if that names an erased address", function* () {
    const sql = yield* Sql
    const domain = yield* World.verifiedDomain("acme.test", id("AccountId"), false)
    const sent = yield* Effect.forEach(
      Array.from({ length: 5 * TEMPLATES }, (_, n) => n),
      (n) => send(domain, n),
    )
    // A template never holds an address that is written in a way it knows; this one does.
    const text = Buffer.from("Write to eva@example.org")
    yield* sql`INSERT INTO content_templates (account_id, id, bytes) VALUES (${domain.account_id}, ${text}, ${text})`
    const [row] = yield* sql<{ readonly sha256: string }>`
      SELECT sha256 FROM content WHERE account_id = ${domain.account_id} AND NOT compressed LIMIT 1`
    assert.isUndefined(row)
    const address = "eva@example.org" as Address
    yield* EraseContent.erase(sql, address, Mask.make(address, Mask.replacement(Buffer.alloc(8))), [], new Set())
    const names = yield* sql`SELECT 1 FROM content_templates WHERE strpos(encode(bytes, 'escape'), 'eva') > 0`
    assert.deepStrictEqual(names, [])
    for (const [n, content] of sent.entries())
      assert.deepStrictEqual(yield* bodyTextOf(domain.account_id, content), Option.some(message(n).html))
  })
})
