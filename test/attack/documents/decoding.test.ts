import { decodeStrictly } from "@waybill/api/errors/decodeStrictly"
import * as Excess from "@waybill/api/errors/Excess"
import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import * as Violations from "@waybill/api/errors/Violations"
import * as Checks from "@waybill/api/schemas/Checks"
import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import { nullIfAbsent } from "@waybill/api/schemas/nullIfAbsent"
import { Effect, Result, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const MANY = 40_000
const MESSAGE = { from: "hi@acme.test", to: "ana@example.org", subject: "x", text: "x" }

/** A text whose decodings are counted. */
const counted = () => {
  const work = { decoded: 0 }
  const text = Schema.String.check(
    Schema.makeFilter(() => {
      work.decoded++
      return true
    }),
  )
  return { text, work }
}

const violationsOf = (schema: Schema.Top, sent: unknown) =>
  Effect.map(Effect.result(decodeStrictly(schema as Schema.Codec<unknown, unknown>)(sent)), (decoded) =>
    Result.isFailure(decoded) ? decoded.failure : Violations.NONE,
  )

const numbered = (count: number, prefix: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`${prefix}${nth}`, "v"]))

describe("decoding a request", () => {
  const PLACES: ReadonlyArray<readonly [what: string, place: (list: Schema.Codec<unknown, unknown>) => Schema.Top]> = [
    ["in a field", (list) => Schema.Struct({ list })],
    ["in an optional field", (list) => Schema.Struct({ list: nullIfAbsent(Schema.NullOr(list)) })],
    ["beside a single value", (list) => Schema.Struct({ list: Schema.Union([Schema.Number, list]) })],
  ]
  for (const [what, place] of PLACES)
    it.effect(`counts a list ${what} before it decodes the elements`, function* () {
      const { text, work } = counted()
      const list = Schema.Array(text).check(Checks.items(1, 5, "texts"))
      const { details } = yield* violationsOf(place(list), { list: Array.from({ length: MANY }, () => "x") })
      assert.deepStrictEqual(details, [{ path: "list", message: `takes 1 to 5 texts; ${MANY} were given` }])
      // An optional field is decoded in two steps.
      assert.isAtMost(work.decoded, 2 * 5)
    })

  it.effect("counts the fields of a record before it decodes them", function* () {
    const { text, work } = counted()
    const sent = { record: numbered(MANY, "f") }
    const { details } = yield* violationsOf(Schema.Struct({ record: Schema.Record(Schema.String, text) }), sent)
    assert.deepStrictEqual(
      details.map(({ path }) => path),
      ["record"],
    )
    assert.isAtMost(work.decoded, Excess.MAX_UNCOUNTED)
  })

  it.effect("reports errors of the elements that count, besides the number", function* () {
    const { details } = yield* violationsOf(EmailMessage, { ...MESSAGE, to: Array.from({ length: 600 }, () => "x") })
    assert.lengthOf(details, 51)
    assert.deepInclude(details, { path: "to", message: "takes 1 to 50 addresses; 600 were given" })
  })

  it.effect("knows the maximum of each list and record of a message", function* () {
    const list = Array.from({ length: MANY }, () => "ana@example.org")
    for (const name of ["to", "cc", "bcc", "reply_to", "tags", "attachments"]) {
      const { details, value } = Excess.bound(EmailMessage, { ...MESSAGE, [name]: list })
      assert.deepStrictEqual(
        details.map(({ path }) => path),
        [name],
      )
      assert.isAtMost((value as Record<string, ReadonlyArray<unknown>>)[name]?.length ?? MANY, 1_000, name)
    }
    assert.deepStrictEqual(
      Excess.bound(EmailMessage, { ...MESSAGE, headers: numbered(MANY, "X-") }).details.map(({ path }) => path),
      ["headers"],
    )
  })

  // threat: bombs
  it.effect("lists 100 unknown fields, compares ten of them, and counts the others", function* () {
    const violations = yield* violationsOf(EmailMessage, { ...MESSAGE, ...numbered(MANY, "subjcet") })
    assert.deepStrictEqual([violations.details.length, violations.more], [Violations.MAX_DETAILS, MANY - 100])
    const compared = violations.details.filter(({ message }) => message.includes("did you mean"))
    assert.lengthOf(compared, Violations.MAX_COMPARED_NAMES)
    assert.match(
      RequestRefusal.invalid(violations).message,
      / 39999 more errors are found; `details` lists the first 100\.$/u,
    )
  })

  it.effect("keeps at most 100 unknown fields of a whole body to decode them", function* () {
    const Nested = Schema.Struct({ items: Schema.Array(Schema.Struct({ a: Schema.optionalKey(Schema.String) })) })
    const items = Array.from({ length: 900 }, () => numbered(50, "x"))
    const { more, value } = Excess.bound(Nested, { items })
    const kept = (value as { readonly items: ReadonlyArray<object> }).items.flatMap((item) => Object.keys(item))
    assert.deepStrictEqual([kept.length, more], [Violations.MAX_DETAILS, 900 * 50 - Violations.MAX_DETAILS])
  })

  it.effect("cuts a long name in the path of an error", function* () {
    const { details } = yield* violationsOf(EmailMessage, { ...MESSAGE, headers: { ["x".repeat(1_000_000)]: 1 } })
    assert.isBelow(JSON.stringify(details).length, 1_000)
  })

  it.effect("leaves a valid value as it is", function* () {
    const sent = { ...MESSAGE, to: ["ana@example.org"], headers: { "X-A": "b" }, tracking: { opens: true } }
    assert.strictEqual(Excess.bound(EmailMessage, sent).value, sent)
    assert.isTrue(Violations.isNone(yield* violationsOf(EmailMessage, sent)))
  })
})
