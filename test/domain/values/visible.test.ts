import * as Text from "@waybill/domain/values/Text"
import * as HiddenCharacters from "@waybill/domain/values/HiddenCharacters"
import { Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

/** Texts with a character that hides something or moves its surroundings. */
const TRICKS: ReadonlyArray<readonly [what: string, text: string]> = [
  ["an escape sequence", "a\u001b[2Jb"],
  ["a C1 sequence", "a\u009b2Jb"],
  ["a line break", "a\nb"],
  ["a carriage return", "a\rb"],
  ["a tab", "a\tb"],
  ["NEL", "a\u0085b"],
  ["a line separator", "a\u2028b"],
  ["a paragraph separator", "a\u2029b"],
  ["a right-to-left override", "invoice\u202egpj.exe"],
  ["an embedding", "a\u202ab"],
  ["an isolate", "a\u2066b\u2069"],
  ["a mark of direction", "a\u200fb"],
  ["an Arabic mark", "a\u061cb"],
  ["a zero-width space", "ad\u200bmin"],
  ["a joiner between Latin letters", "ad\u200dmin"],
  ["a joiner at the end", "admin\u200c"],
  ["a word joiner", "ad\u2060min"],
  ["a byte order mark", "\ufeffadmin"],
  ["a soft hyphen", "ad\u00admin"],
  ["a selector after a letter", "a\ufe0f"],
  ["a tag character", "a\u{e0041}"],
  ["a Hangul filler", "\u3164"],
  ["an empty braille pattern", "\u2800"],
  ["DEL", "a\u007f"],
  ["half a surrogate pair", "a\ud83d"],
]

const NAMES = [
  "Ana Müller-Łęcka",
  "Acme & Söhne <GmbH>",
  "日本語 の 名前",
  "שלום עולם 42",
  "می‌خواهم",
  "क्‍ष",
  "👩‍👩‍👧‍👦 family",
  "👨🏽‍🚀 ❤️‍🔥 ☑️ 1️⃣",
  "🏳️‍🌈",
  "\u0601123",
  "a\u00a0b",
]

describe("hidden characters", () => {
  // threat: terminal
  it.each(TRICKS)("a hidden character is found, escaped and refused in a name: %s", (_, text) => {
    const name = Schema.is(Text.name(100))
    assert.deepStrictEqual([HiddenCharacters.hasHidden(text), name(text)], [true, false])
    const escaped = HiddenCharacters.escape(text)
    for (const shown of [escaped, HiddenCharacters.showHidden(text), HiddenCharacters.removeHidden(text)])
      assert.isFalse(HiddenCharacters.hasHidden(shown), shown)
    assert.match(escaped, /\\[nrtu]/u)
  })

  it.each(NAMES)("%s has no hidden character", (text) => {
    assert.deepStrictEqual([HiddenCharacters.hasHidden(text), HiddenCharacters.escape(text)], [false, text])
    assert.isTrue(Schema.is(Text.name(100))(text))
  })

  it("a hidden character is shown as a picture or by its number", () => {
    assert.strictEqual(HiddenCharacters.escape("a\n\u001b\u202e\u{e0041}"), "a\\n\\u001b\\u202e\\u{e0041}")
    assert.strictEqual(HiddenCharacters.showHidden("a\n\u001b\u007f\u202e"), "a␊␛␡[U+202E]")
    assert.strictEqual(HiddenCharacters.escapedLines("a\nb\u001b"), "a\nb\\u001b")
  })

  it("escaped JSON has the same value", () => {
    const value = { name: TRICKS.map(([, text]) => text).join(" "), list: ["\u{e0041}", "a\\n"] }
    for (const indent of [0, 2]) {
      const shown = HiddenCharacters.escapedJson(JSON.stringify(value, null, indent))
      assert.isFalse(HiddenCharacters.hasHidden(shown.replaceAll("\n", "")))
      assert.deepStrictEqual(JSON.parse(shown), value)
    }
  })

  it("the schema of names refuses hidden characters and long names with a message", () => {
    const words = (text: string, minimum?: 0 | 1) => Schema.decodeUnknownResult(Text.name(3, minimum))(text)._tag
    assert.deepStrictEqual(
      [words("abc"), words("abcd"), words(""), words("", 0)],
      ["Success", "Failure", "Failure", "Success"],
    )
  })
})
