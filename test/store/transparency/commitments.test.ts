import * as Commitments from "@waybill/store/transparency/Commitments"
import { canonicalJson } from "@waybill/verify/JsonValue"
import { createHash, createHmac } from "node:crypto"
import { describe } from "vitest"
import { assert, it } from "../../support/effectTest.ts"

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
      data: sha256(canonicalJson(commitments)),
    })
  })

  it("has its canonical JSON as text", () => {
    const entry = Commitments.ofStream(seed).entry(event)
    assert.strictEqual(Commitments.textOf(entry), canonicalJson(entry))
  })

  it("is the same from opened and hidden fields", () => {
    const stream = Commitments.ofStream(seed)
    const { fields, hidden } = stream.open(event, (name) => name === "recipient")
    assert.deepStrictEqual(Object.keys(fields), ["code", "long"])
    const commitments = { ...hidden }
    for (const [name, { salt, value }] of Object.entries(fields))
      commitments[name] = sha256(Buffer.from(salt, "base64url"), canonicalJson(value))
    assert.strictEqual(sha256(canonicalJson(commitments)), stream.entry(event).data)
    assert.strictEqual(Buffer.from(fields["code"]?.salt ?? "", "base64url").length, 32)
  })
})
