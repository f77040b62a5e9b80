import * as LineEnds from "@waybill/mail/compose/LineEnds"
import { assert, describe, test } from "vitest"

/** All sequences of line ends, with characters of one, two and four bytes between them. */
const MIXED = "a\r\n\r\r\n\n\né\r\n💌\n\rx\r\r\n y\n"
const LONG = MIXED.repeat(Math.ceil((2 * LineEnds.LONG_TEXT_CHARS) / MIXED.length))

describe("the line ends of a long text", () => {
  test("become the same bytes as those of a short text", () => {
    const lf = LONG.replaceAll(/\r\n?/gu, "\n")
    assert.strictEqual(LineEnds.toLf(LONG), lf)
    assert.strictEqual(LineEnds.toLf(`${LONG}\r`), `${lf}\n`)
    assert.strictEqual(LineEnds.toLf(lf), lf)
    const crlf = LineEnds.toCrlf(lf)
    assert.instanceOf(crlf, Buffer)
    assert.strictEqual(crlf.toString(), lf.replaceAll("\n", "\r\n"))
    assert.strictEqual(LineEnds.toCrlf("a\n"), "a\r\n")
  })
})
