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

describe("cells that a spreadsheet would take for formulas", () => {
  const row = (email: string) => ({ email, reason: "manual", created_at: "2026-11-03T08:00:00.000Z" })
  const addresses = [
    '=hyperlink("//evil.example")@example.org',
    "+cmd@example.org",
    "-2+3@example.org",
    "@sum(1)@example.org",
    "'=1@example.org",
    "''+1@example.org",
    "'ana@example.org",
    "ana+tag@example.org",
  ]

  // threat: formulas
  it("are written with an apostrophe, and read as they were", () => {
    const text = SuppressionFile.write(addresses.map(row))
    const cells = text.split("\n").slice(1, -1)
    for (const cell of cells) assert.match(cell, /^"?(?:''?'?[=+\-@]|'?ana)/u)
    assert.deepStrictEqual(
      SuppressionFile.parse(text).lines.map(({ email }) => email),
      addresses,
    )
    assert.include(text, "\nana+tag@example.org,")
  })

  it("are written with an apostrophe also among lines that were not imported", () => {
    const text = SuppressionFile.writeRejected([{ line: 1, text: "=1+1,x", problem: "is no address" }])
    assert.strictEqual(text, `line,problem,text\n1,is no address,"'=1+1,x"\n`)
  })

  it("begin with a tab or a line end too", () => {
    for (const text of ["\t=1", "\r=1", "\n=1", "=1"])
      assert.match(SuppressionFile.cell(text), /^"?'/u, JSON.stringify(text))
    assert.strictEqual(SuppressionFile.cell("plain"), "plain")
  })
})
