import * as Livemode from "@waybill/domain/account/Livemode"
import * as Id from "@waybill/domain/values/Id"
import * as IdKey from "@waybill/store/postgres/IdKey"
import * as EmailSpan from "@waybill/store/search/EmailSpan"
import * as TermKey from "@waybill/store/postgres/TermKey"
import { randomBytes } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

const BEGAN_MS = Date.UTC(2026, 0, 1)
const ids = Array.from({ length: 200 }, (_, nth) => Id.make("EmailId", BEGAN_MS + (nth % 50) * 977, randomBytes(10)))
const account = Id.make("AccountId", BEGAN_MS, randomBytes(10))
const EXTREMES = [`msg_${"0".repeat(26)}`, `msg_7${"z".repeat(25)}`]

describe("the key of an id", () => {
  it("leads back to the id, of live and test accounts too", () => {
    for (const id of [...ids, ...EXTREMES]) assert.strictEqual(IdKey.idOf("EmailId", IdKey.of(id)), id)
    for (const id of [account, Livemode.testAccountOf(account)])
      assert.strictEqual(IdKey.idOf("AccountId", IdKey.of(id)), id)
    assert.notStrictEqual(IdKey.of(account), IdKey.of(Livemode.testAccountOf(account)))
  })

  it("has the order of the ids, between the bounds", () => {
    const sorted = ids.toSorted()
    assert.deepStrictEqual(ids.map(IdKey.of).toSorted(), sorted.map(IdKey.of))
    for (const id of ids) {
      const key = IdKey.of(id)
      assert.isTrue(IdKey.LOWEST < IdKey.beside(key, -1) && IdKey.beside(key, -1) < key)
      assert.isTrue(key < IdKey.beside(key, 1) && IdKey.beside(key, 1) < IdKey.HIGHEST)
      assert.strictEqual(IdKey.beside(IdKey.beside(key, 1), -1), key)
    }
  })

  it("is written as the same bytes as its text has", () => {
    for (const id of [...ids, ...EXTREMES, account, Livemode.testAccountOf(account)]) {
      const bytes = Buffer.alloc(18)
      IdKey.write(id, bytes, 1)
      assert.strictEqual(bytes.toString("hex"), `00${IdKey.of(id)}00`)
    }
  })

  it("is refused for any other text", () => {
    const [id = ""] = ids
    for (const text of [
      "",
      "msg_",
      id.slice(4),
      `${id}0`,
      id.slice(0, -1),
      id.toUpperCase(),
      `msg_8${id.slice(5)}`,
      `x${id}`,
      id.replace("_", "-"),
      ...["i", "l", "o", "u", "Z", "é", "€", " "].flatMap((letter) =>
        Array.from({ length: IdKey.ID_LENGTH - 4 }, (_, at) => `${id.slice(0, at + 4)}${letter}${id.slice(at + 5)}`),
      ),
    ]) {
      assert.throws(() => IdKey.of(text), "is not an id")
    }
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("keys in SQL", (it) => {
  it.effect("are those of the code", function* () {
    const sql = yield* Sql
    const texts = [...ids, ...EXTREMES]
    const rows = yield* sql<{ readonly id: string; readonly key: string; readonly again: string }>`
      SELECT id, id_key(id) AS key, id_of('msg', id_key(id)) AS again FROM unnest(${texts}::text[]) AS given(id)`
    assert.lengthOf(rows, texts.length)
    for (const { again, id, key } of rows)
      assert.deepStrictEqual([IdKey.fromUuid(key), again, IdKey.idOf("EmailId", key)], [IdKey.of(id), id, id])
    const terms = ["to:ana@example.org", "tag:größe", "subject:", "to:用户@例え.jp"]
    const hashed = yield* sql<{ readonly term: string; readonly key: bigint; readonly short: number }>`
      SELECT term, term_key(term) AS key, (term_key(term) >> 32)::int AS short FROM unnest(${terms}::text[]) AS given(term)`
    for (const { key, short, term } of hashed)
      assert.deepStrictEqual([key, short], [TermKey.of(term), TermKey.shortOf(term)])
  })

  it.effect("say in which span an id is", function* () {
    const sql = yield* Sql
    for (const id of ids.slice(0, 50)) {
      const span = sql.literal(String(EmailSpan.of(id)))
      const [row] = yield* sql<{ readonly isWithin: boolean }>`
        SELECT id_key(${id}) >= ${EmailSpan.firstKey(sql, span)}
          AND id_key(${id}) < ${EmailSpan.firstKey(sql, sql`${span} + 1`)} AS "isWithin"`
      assert.isTrue(row?.isWithin)
    }
  })
})
