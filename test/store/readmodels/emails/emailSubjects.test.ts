import * as EmailLogPart from "@waybill/store/search/EmailLogPart"
import * as EmailSubjects from "@waybill/store/readmodels/emails/EmailSubjects"
import { Effect } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { account } from "../../search/emailLogRows.ts"

describe("a folded subject", () => {
  const texts = ["Grüße", "GRÜSSE ÜBER", "领收 領収書", "😀 ok", "a\u0301", "\u0007bell", "Σίσυφος", "plain text 100%"]
  it("contains the fold of each of its parts, and of nothing else", () => {
    for (const text of texts) {
      const characters = Array.from(text.normalize("NFC"))
      for (let from = 0; from < characters.length; from++)
        for (let to = from + 1; to <= characters.length; to++)
          assert.include(EmailSubjects.fold(text), EmailSubjects.fold(characters.slice(from, to).join("")))
    }
    // Encodings use letters that folded text cannot contain.
    assert.notInclude(EmailSubjects.fold("ü"), "q")
    assert.match(EmailSubjects.fold("ü"), /^[Q-Z][A-P]{4}$/)
    assert.notInclude(EmailSubjects.fold("üü"), EmailSubjects.fold("ý"))
  })

  it("has ASCII of a few characters beyond it, by which a search reads a message whose text has no such letter", () => {
    const found: Array<readonly [folded: string, character: string]> = []
    for (let codePoint = 0x80; codePoint <= 0x10_ffff; codePoint++) {
      const character = String.fromCodePoint(codePoint)
      // An encoding has capitals only.
      const ascii = EmailSubjects.fold(character).replaceAll(/[A-Z]/gu, "")
      if (ascii !== "") found.push([ascii, character])
    }
    const known = EmailLogPart.FOLDED.toSorted(([, a], [, b]) => (a < b ? -1 : 1))
    assert.deepStrictEqual(found, known)
  })
})

layer(Database.layerFresh, { excludeTestServices: true })("equal subjects of concurrent commits", (it) => {
  it.effect("are stored once each, and the commits never deadlock", function* () {
    const sql = yield* Sql
    for (let round = 0; round < 15; round++) {
      const rows = Array.from({ length: 2_000 }, (_, nth) => {
        const subject = `Round ${round} of ${nth}`
        return EmailSubjects.row(account(1), subject)
      })
      yield* Effect.forEach(
        [rows, rows.toReversed(), rows],
        (each) => sql.withTransaction(EmailSubjects.readModel.upsert(sql, each)),
        { concurrency: 3 },
      )
    }
    const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM email_subjects`
    assert.strictEqual(row?.n, 15 * 2_000)
  })
})
