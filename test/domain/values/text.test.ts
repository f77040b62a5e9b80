import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import * as Text from "@waybill/domain/values/Text"
import { Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

describe("text", () => {
  it.each([
    ["an empty text", ""],
    ["the last of one octet, the first of two", "\u007f\u0080"],
    ["the last of two octets, the first of three", "\u07ff\u0800"],
    ["the last before the surrogates, the first after them", "\ud7ff\ue000"],
    ["the first and the last of four", "\u{10000}\u{10ffff}"],
    ["all four kinds", "aé€😀"],
  ])("octets are counted as in UTF-8: %s", (_, text) => {
    assert.strictEqual(Text.octets(text), Buffer.byteLength(text))
    for (const letter of text) assert.strictEqual(Text.octets(letter), Buffer.byteLength(letter), letter)
  })

  it("C0, C1, DEL and line separators are controls", () => {
    const code = (text: string) => (text.codePointAt(0) ?? 0).toString(16)
    for (const control of ["\u0000", "\u001f", "\u007f", "\u0080", "\u009f", "\u2028", "\u2029"])
      assert.isTrue(Text.hasControl(`a${control}b`), code(control))
    for (const other of [" ", "~", "\u00a0", "\u2027", "\u202a", "é"])
      assert.isFalse(Text.hasControl(other), code(other))
  })

  it("the problem of a name is described, control characters first", () => {
    for (const control of ["a\u001b[31m", "a\u0085b", "a\u2028b", "a\tb"])
      assert.match(Text.nameProblem(control) ?? "", /control characters or line breaks/u)
    assert.match(Text.nameProblem("a\ud83d") ?? "", /unpaired surrogate/u)
    assert.match(Text.nameProblem("x\u202egpj.exe") ?? "", /invisible characters/u)
    assert.isUndefined(Text.nameProblem("Ana Müller"))
  })

  it("only an ASCII character that is a control is a problem", () => {
    for (let code = 0; code < 0x80; code++) {
      const text = `a${String.fromCharCode(code)}`
      const isProblem = Text.hasControl(text) || HiddenCharacters.hasHidden(text)
      assert.strictEqual(Text.nameProblem(text) !== undefined, isProblem, code.toString(16))
    }
  })

  it("a text with a lone surrogate is not well-formed and cannot be stored", () => {
    const stored = Schema.is(Text.Stored)
    for (const whole of ["", "a\nb", "😀"])
      assert.deepStrictEqual([Text.isWellFormed(whole), stored(whole)], [true, true])
    for (const half of ["\ud83d", "a\ude00b"])
      assert.deepStrictEqual([Text.isWellFormed(half), stored(half)], [false, false])
    assert.isFalse(stored("a\u0000b"))
  })

  it("a clipped text fits an event, even when cut inside a character", () => {
    assert.strictEqual(Text.clip("12345", 5), "12345")
    assert.strictEqual(Text.clip("123456", 5), "12345")
    assert.strictEqual(Text.clip(" a\r\n\u0000b\u2028c ", 20), "a b c")
    assert.strictEqual(Text.clip("ab😀", 3), "ab\ufffd")
  })
})
