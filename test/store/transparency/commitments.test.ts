import * as CanonicalJson from "@waybill/store/transparency/CanonicalJson"
import * as Commitments from "@waybill/store/transparency/Commitments"
import { createHash, createHmac } from "node:crypto"
import { describe } from "vitest"
import { assert, it } from "../../support/effectTest.ts"

describe("Canonical JSON", () => {
  it("is that of the example of RFC 8785", () => {
    const value: unknown = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    )
    assert.strictEqual(
      CanonicalJson.encode(value),
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it("sorts names by their UTF-16 code units", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"]
    const encoded = CanonicalJson.encode(Object.fromEntries(names.map((name) => [name, 0])))
    const sorted = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\ud83d\ude00", "\ufb33"]
    assert.strictEqual(encoded, `{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(",")}}`)
  })
})

const sha256 = (...parts: ReadonlyArray<string | Uint8Array>) => {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part)
  return hash.digest("base64url")
}
const hmac = (key: Uint8Array, text: string) => createHmac("sha256", key).update(text).digest()

describe("The entry of an event", () => {
  const seed = Buffer.alloc(16, 9)
  const event = {
    event: "evt_1",
    version: 12,
    type: "email.delivered",
    at: "2026-11-29T18:00:00.000Z",
    stream_id: "msg_1",
    fields: { recipient: "ana@example.org", code: 250, long: "é".repeat(5_000), absent: undefined },
  }

  it("commits to each field with a salt of its own", () => {
    const salt = hmac(seed, "12").subarray(0, 16)
    const commitments = Object.fromEntries(
      (["recipient", "code", "long"] as const).map((name) => [
        name,
        sha256(hmac(salt, name), JSON.stringify(event.fields[name])),
      ]),
    )
    assert.deepStrictEqual(Commitments.ofStream(seed).entry(event), {
      v: 1,
      event: "evt_1",
      stream: sha256(hmac(seed, "stream").subarray(0, 16), "msg_1"),
      version: 12,
      type: "email.delivered",
      at: "2026-11-29T18:00:00.000Z",
      data: sha256(CanonicalJson.encode(commitments)),
    })
  })

  it("has its canonical JSON as text", () => {
    const entry = Commitments.ofStream(seed).entry(event)
    assert.strictEqual(Commitments.textOf(entry), CanonicalJson.encode(entry))
  })

  it("is the same from opened and hidden fields", () => {
    const stream = Commitments.ofStream(seed)
    const { fields, hidden } = stream.open(event, (name) => name === "recipient")
    assert.deepStrictEqual(Object.keys(fields), ["code", "long"])
    const commitments = { ...hidden }
    for (const [name, opening] of Object.entries(fields)) commitments[name] = Commitments.ofOpening(opening)
    assert.strictEqual(Commitments.dataOf(commitments), stream.entry(event).data)
    assert.strictEqual(Buffer.from(fields["code"]?.salt ?? "", "base64url").length, 32)
  })
})
