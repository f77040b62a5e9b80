import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("a file of suppressions", () => {
  const read = (text: string) =>
    SuppressionFile.parse(text).lines.map(({ email, line, reason }) => [line, email, reason])

  it("has one address a line, and names its columns in the first", () => {
    assert.deepStrictEqual(read("a@x.test\r\n\r\nb@x.test,complaint\n"), [
      [1, "a@x.test", "manual"],
      [3, "b@x.test", "complaint"],
    ])
    assert.deepStrictEqual(read('\ufeff"Reason","Email Address","Date"\nhard_bounce,"a@x.test","1, 2"\n'), [
      [2, "a@x.test", "hard_bounce"],
    ])
    assert.deepStrictEqual(read("a@x.test\nA@x.test,unsubscribe"), [[2, "A@x.test", "unsubscribe"]])
    assert.deepStrictEqual(read("id,email,at\n1,a@x.test,today"), [[2, "a@x.test", "manual"]])
  })

  it("reports each line without an address or with an unknown reason", () => {
    const { rejected } = SuppressionFile.parse(`,manual\n"a@x.test",spam\n"unclosed\n${"a".repeat(400)}\n`)
    assert.deepStrictEqual(
      rejected.map(({ line }) => line),
      [1, 2, 4],
    )
    assert.include(SuppressionFile.writeRejected(rejected), '"""a@x.test"",spam"')
  })

  it("is read as it is written", () => {
    const rows = [{ email: `"odd,one"@x.test`, reason: "manual", created_at: "2026-11-25T00:00:00.000Z" }]
    assert.deepStrictEqual(read(SuppressionFile.write(rows)), [[2, rows[0]?.email, "manual"]])
  })
})
