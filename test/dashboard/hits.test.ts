import { assert, describe, it } from "vitest"
import * as Hits from "../../apps/dashboard/src/emails/search/Hits.ts"

/** Writes pieces as a text with the hits in brackets. */
const written = (pieces: ReadonlyArray<Hits.Piece>): string =>
  pieces.map(({ isHit, text }) => (isHit ? `[${text}]` : text)).join("")

describe("hits of a search", () => {
  it("are found whatever the case, and more than once", () => {
    for (const [text, parts, expected] of [
      ["Your order, our Order", ["ORDER"], "Your [order], our [Order]"],
      ["banana", ["ana"], "b[anana]"],
      ["ΟΔΟΣ", ["οδος"], "[ΟΔΟΣ]"],
      ["cafe\u0301", ["CAFÉ"], "[café]"],
      ["nothing", ["", "else"], "nothing"],
    ] as const)
      assert.strictEqual(written(Hits.piecesOf(text, parts)), expected, text)
  })

  it("say which field of a row that is not shown has them", () => {
    const email = {
      to: ["ana@example.org"],
      cc: [],
      bcc: [],
      from: "hi@acme.test",
      id: "msg_1",
      status: "queued",
      scheduled_at: null,
      subject: "Hi",
      tags: [],
      recipients: [{ address: "ana@example.org", status: "queued" }],
    }
    const found = { ...email, metadata: { customer: "cus_3", plan: "pro" } } as unknown as Parameters<
      typeof Hits.hiddenOf
    >[0]
    assert.deepStrictEqual(Hits.hiddenOf(found, Hits.partsOf({ q: '"cus_3"' })), [
      { field: "metadata", name: "customer", text: "cus_3" },
    ])
  })

  it("stay in sight when the text before them is long", () => {
    for (const [text, expected] of [
      ["A subject, and a needle at its end", "A subject, and a [needle] at its end"],
      ["A subject that goes on and on, until its needle and more", "…til its [needle] and more"],
      ["needle, and a subject that goes on and on: needle", "[needle], and a subject that goes on and on: [needle]"],
      ["A subject that goes on and on without one", "A subject that goes on and on without one"],
    ] as const)
      assert.strictEqual(written(Hits.shorten(Hits.piecesOf(text, ["needle"]))), expected)
  })
})
