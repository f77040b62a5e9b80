import * as Difference from "@waybill/store/content/Difference"
import { BodyParts } from "@waybill/store/content/BodyParts"
import * as Template from "@waybill/store/content/Template"
import { dice } from "../../support/dice.ts"
import { assert, describe, it } from "../../support/effectTest.ts"

const partsOf = (bytes: Uint8Array): BodyParts => {
  const parts = new BodyParts()
  assert.isTrue(parts.read(bytes))
  return parts
}

/** A template of the parts of a text for which `isKept` holds. */
const templateOf = (text: string, isKept: (nth: number) => boolean = () => true): Template.Template => {
  const bytes = Buffer.from(text)
  const parts = partsOf(bytes)
  return Template.make(
    bytes,
    parts,
    Array.from({ length: parts.count }, (_, nth) => nth).filter((nth) => isKept(nth)),
  )
}

const encode = (text: string, template: Template.Template, most = Infinity) => {
  const bytes = Buffer.from(text)
  return Difference.encode(bytes, partsOf(bytes), template, most)
}

const WORDS = ["<td>", "</td>", "A sentence.", "7", "é€", "\n", "Dear ", "\\n"]
/** A text of up to sixty words, which repeat. */
const textOf = ({ below, pick }: ReturnType<typeof dice>): string =>
  Array.from({ length: below(60) }, () => pick(WORDS)).join("")

describe("the difference of a body from its template", () => {
  it("gives the body again, whatever both have in common", () => {
    const random = dice(7)
    for (let run = 0; run < 500; run++) {
      const left = random.below(5)
      const template = templateOf(textOf(random), (nth) => nth % 5 !== left)
      const body = textOf(random)
      const difference = encode(body, template)
      assert.isDefined(difference)
      if (difference === undefined) return
      assert.isTrue(Difference.isDifference(difference))
      assert.strictEqual(Buffer.from(Difference.decode(difference, template.bytes)).toString(), body)
    }
  })

  it("has the same bytes in every release", () => {
    const template = templateOf(
      "<p>Dear Ana,</p><p>Your order is on its way.</p>\n<p>7</p><p>It arrives today.</p>",
      (nth) => nth !== 1,
    )
    const body = "<p>Dear Bo,</p><p>It arrives today.</p><p>Your order is on its way.</p>\n<p>8 €</p>."
    assert.strictEqual(
      Buffer.from(encode(body, template) ?? []).toString("hex"),
      "015500010000021c094465617220426f2c3c0334000302001510033c703e217b063820e282ac3c0304012e",
    )
  })

  it("is what the template has not, and a few bytes", () => {
    const row = (n: number) => `<tr><td>Article ${n}</td><td>of this shop</td></tr>`
    const page = (name: string) => `<p>Dear ${name},</p>${Array.from({ length: 24 }, (_, n) => row(n)).join("")}`
    const template = templateOf(page("Ana"), (nth) => nth !== 1)
    assert.isAtMost(encode(page("Linnea Berg"), template)?.length ?? Infinity, "Dear Linnea Berg,<".length + 14)
  })

  it("is not made if it would be longer than it may", () => {
    const template = templateOf("<p>What all of these have in common.</p>")
    const body = "<p>Something else that is long enough.</p>"
    assert.isDefined(encode(body, template, 60))
    assert.isUndefined(encode(body, template, 20))
  })

  it("is not made of parts that only have the same hash", () => {
    const template = templateOf("<p>One sentence.</p>")
    const other = { ...template, bytes: Buffer.from("<p>One SENTENCE.</p>") }
    assert.isUndefined(encode("<p>One sentence.</p>", other))
  })

  it("that is damaged gives an error, and never a wrong length", () => {
    const template = templateOf("<p>One sentence.</p><p>Another one that goes on.</p>")
    const whole = encode("<p>One sentence.</p>7<p>Another one that goes on.</p>", template) ?? Buffer.alloc(0)
    for (let length = 0; length < whole.length; length++)
      assert.throws(() => Difference.decode(whole.subarray(0, length), template.bytes), /damaged/u)
    assert.throws(() => Difference.decode(whole, template.bytes.subarray(0, 20)), /damaged/u)
    assert.throws(() => Difference.decode(Buffer.from([1, 255, 255, 255, 255, 7]), template.bytes), /damaged/u)
  })
})
