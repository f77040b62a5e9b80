import { Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

/** Bodies with the place of their first error, and what is expected there. */
const BODIES: ReadonlyArray<readonly [body: string, line: number, column: number, expected: string]> = [
  ['{"from":', 1, 9, "a value"],
  ["{}{}", 1, 3, "the end"],
  ['{"a": 1,}', 1, 9, "a name in double quotes"],
  ['{"a": 1\n "b": 2}', 2, 2, "`,` or `}`"],
  ["{\n  'a': 1\n}", 2, 3, "a name in double quotes or `}`"],
  ["{a: 1}", 1, 2, "a name in double quotes or `}`"],
  ['{"a" 1}', 1, 6, "`:`"],
  ["[1 2]", 1, 4, "`,` or `]`"],
  ["[1,]", 1, 4, "a value"],
  ['{"a": undefined}', 1, 7, "a value"],
  ['{"a": tru}', 1, 7, "a value"],
  ['{"a": 01}', 1, 8, "`,` or `}`"],
  ['{"a": -}', 1, 7, "a value"],
  ['{"a": "x\ny"}', 1, 9, "the end of the string; a line break in it is written as \\n"],
  ['{"a": "x\ty"}', 1, 9, "the end of the string; a control character in it is written as \\u0009"],
  ['{"a": "\\x"}', 1, 8, 'an escape such as \\n, \\" or \\u00e9'],
  ['{"a": "\\u00g0"}', 1, 8, 'an escape such as \\n, \\" or \\u00e9'],
  ['{"a": "x', 1, 9, "the end of the string"],
  ['\r\n\r\n{"ä😀": nul}', 3, 9, "a value"],
  ["hello", 1, 1, "a value"],
]

const setUp = Effect.gen(function* () {
  const world = yield* HttpWorld
  const { secret: key } = yield* world.key(yield* world.account())
  return (raw: string, path = "/v1/email/send") =>
    world.request("POST", path, { key, raw, headers: { "x-postmark-server-token": key } })
})

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("malformed JSON", (it) => {
  it.effect("is refused with the line and column of its first error, and without its content", function* () {
    const send = yield* setUp
    for (const [body, line, column, expected] of BODIES) {
      const { json, status } = yield* send(body)
      assert.throws(() => JSON.parse(body))
      assert.deepStrictEqual([status, json.error.reason], [400, "malformed_json"], body)
      const message = `is not valid JSON: line ${line}, column ${column} should have ${expected}`
      assert.deepStrictEqual(json.error.details, [{ path: "", message }], body)
      assert.strictEqual(json.error.message, `The body ${message}.`)
    }
  })

  it.effect("is refused with its place by the APIs of other services too", function* () {
    const send = yield* setUp
    for (const path of ["/compat/resend/emails", "/compat/postmark/email", "/compat/sendgrid/v3/mail/send"]) {
      const { text } = yield* send('{"from":\n x}', path)
      assert.include(text, "line 2, column 2", path)
    }
  })

  it.effect("is searched for its error in the first million characters only", function* () {
    const send = yield* setUp
    const textTo = (chars: number) => `{"text": "${"é".repeat(chars - 13)}"}x`
    const { json } = yield* send(textTo(1_000_000))
    assert.strictEqual(json.error.message, "The body is not valid JSON: line 1, column 1000000 should have the end.")
    for (const body of [textTo(1_000_001), textTo(4_000_000), `"${"é".repeat(2_000_000)}`])
      assert.strictEqual(
        (yield* send(body)).json.error.message,
        "The body is not valid JSON; the error is after the first 1000000 characters.",
      )
  })
})
