import * as LogKeys from "@waybill/store/transparency/LogKeys"
import { parseVkey } from "@waybill/verify/SignedNote"
import { Duration, Effect } from "effect"
import { verify } from "node:crypto"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, reasonOf, signUp } from "../../support/world/HttpWorld.ts"
import { buildLog, problemOf } from "../../support/world/logTree.ts"
import { readCbor } from "./readCbor.ts"

const PRIVATE = { to: "ana@example.org", cc: "Bo <bo@example.org>", subject: "Your ticket 7041 for ana@example.org" }
const UNKNOWN = "msg_01kakz5xq8e4vb2m0r7c3d9h1t"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })("a receipt", (it) => {
  /** An account that has sent a mail and canceled it. */
  const setUp = Effect.gen(function* () {
    const customer = yield* signUp({ domains: ["acme.test"] })
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const id = yield* customer.send({ ...PRIVATE, scheduled_at: soon })
    yield* customer.call("POST", `/v1/email/${id}/cancel`)
    yield* buildLog
    const receipt = (query = "", headers = {}) =>
      customer.call("GET", `/v1/email/${id}/receipt${query}`, undefined, headers)
    return { ...customer, id, receipt }
  })

  it.effect("proves each event, and shows its fields", function* () {
    const { call, id, receipt } = yield* setUp
    const { json, status } = yield* receipt()
    assert.strictEqual(status, 200, JSON.stringify(json))
    assert.isUndefined(yield* problemOf(json))
    const [queued, canceled] = json.events
    assert.deepStrictEqual([queued.entry.version, queued.entry.type], [1, "email.queued"])
    assert.deepStrictEqual([canceled.entry.version, canceled.entry.type], [2, "email.canceled"])
    assert.strictEqual(queued.fields.email_id.value, id)
    assert.strictEqual(queued.fields.subject.value, PRIVATE.subject)
    assert.deepStrictEqual(queued.hidden, {})
    assert.deepStrictEqual([json.object, json.email.id, json.origin], ["receipt", id, "waybill.example/log"])
    assert.deepStrictEqual(json.cosignatures, [])
    assert.deepStrictEqual(reasonOf(yield* call("GET", `/v1/email/${UNKNOWN}/receipt`)), [404, "email_not_found"])
  })

  it.effect("hides fields, everything that repeats a hidden address, and still holds", function* () {
    const { receipt } = yield* setUp
    const { json, text } = yield* receipt("?redact=recipient")
    assert.isUndefined(yield* problemOf(json))
    assert.notMatch(text, /ana@example|bo@example/u)
    assert.hasAllKeys(json.events[0].hidden, ["to", "cc", "bcc", "subject"])
    assert.doesNotHaveAnyKeys(json.email, ["to", "cc", "bcc", "subject"])
    assert.deepStrictEqual(json.email.recipients, [])
    const subject = (yield* receipt("?redact=subject")).json
    assert.isUndefined(yield* problemOf(subject))
    assert.deepStrictEqual(Object.keys(subject.events[0].hidden), ["subject"])
    assert.notInclude(JSON.stringify(subject), "7041")
    const { json: refused } = yield* receipt("?redact=recipient,subjct")
    assert.deepStrictEqual(refused.error.details[0].path, "redact")
    assert.include(refused.error.message, "subject")
  })

  it.effect("hides an address that another field has in another spelling", function* () {
    const { call, send } = yield* setUp
    const id = yield* send({
      to: "Ana <ana@b\u00fccher.example>",
      subject: "See https://track.example/?to=%2Faccount%3Fuser%3DANA%2540xn--bcher-kva.example",
      metadata: { "ana@b\u00fccher.example": "key" },
    })
    yield* buildLog
    const { json, text } = yield* call("GET", `/v1/email/${id}/receipt?redact=recipient`)
    assert.isUndefined(yield* problemOf(json))
    assert.includeMembers(Object.keys(json.events[0].hidden), ["subject", "metadata", "to"])
    assert.notMatch(text, /ana(?:@|%)/iu)
  })

  it.effect("waits for the signature of the last event, and is refused without it", function* () {
    const { call, send } = yield* setUp
    const id = yield* send(PRIVATE)
    assert.deepStrictEqual(reasonOf(yield* call("GET", `/v1/email/${id}/receipt`)), [422, "receipt_pending"])
    yield* buildLog
    assert.strictEqual((yield* call("GET", `/v1/email/${id}/receipt`)).status, 200)
  })

  it.effect("is that of a received mail too", function* () {
    const { call } = yield* setUp
    const { json: mail } = yield* call("POST", "/v1/test/inbound", { from: "ana@example.org", to: "hi+bo@acme.test" })
    yield* buildLog
    const { json } = yield* call("GET", `/v1/inbound/${mail.id}/receipt`)
    assert.isUndefined(yield* problemOf(json))
    assert.strictEqual(json.email.id, mail.id)
    assert.strictEqual(json.events[0].fields.inbound_id.value, mail.id)
    const hidden = (yield* call("GET", `/v1/inbound/${mail.id}/receipt?redact=recipient`)).json
    assert.isUndefined(yield* problemOf(hidden))
    const { fields } = hidden.events[0]
    assert.doesNotHaveAnyKeys(fields, ["to", "envelope", "mailbox_hash"])
    assert.strictEqual(fields.from.value.address, "ana@example.org")
  })

  it.effect("is signed with a COSE Receipt for each event", function* () {
    const { receipt } = yield* setUp
    const { json } = yield* receipt()
    const { headers, world, key, id } = { ...(yield* setUp), headers: { accept: "application/cose" } }
    const response = yield* Effect.promise(() =>
      fetch(`${world.url}/v1/email/${id}/receipt`, { headers: { ...headers, authorization: `Bearer ${key}` } }),
    )
    assert.strictEqual(response.headers.get("content-type"), "application/cose")
    const bytes = new Uint8Array(yield* Effect.promise(() => response.arrayBuffer()))
    const [signed, unsigned, payload, signature] = readCbor(bytes)
    const shown = JSON.parse(Buffer.from(payload).toString())
    assert.isUndefined(yield* problemOf(shown))
    const vkey = yield* Effect.promise(() => parseVkey(shown.keys[0]))
    assert.strictEqual(shown.keys[0], json.keys[0])
    const publicKey = { key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(vkey.key).toString("base64url") } }
    const isSigned = (header: Uint8Array, content: Uint8Array, signature: Uint8Array) => {
      const bstr = (value: Uint8Array) =>
        Buffer.concat([
          value.length < 24
            ? Buffer.of(0x40 + value.length)
            : value.length < 256
              ? Buffer.of(0x58, value.length)
              : Buffer.of(0x59, value.length >> 8, value.length & 255),
          value,
        ])
      const structure = Buffer.concat([
        Buffer.of(0x84, 0x6a),
        Buffer.from("Signature1"),
        bstr(header),
        Buffer.of(0x40),
        bstr(content),
      ])
      return verify(null, structure, { ...publicKey, format: "jwk" }, signature)
    }
    assert.isTrue(isSigned(signed, payload, signature))
    assert.deepStrictEqual(readCbor(signed).get(1), -8)
    const receipts = unsigned.get(394)
    assert.strictEqual(receipts.length, shown.events.length)
    const root = Buffer.from(shown.checkpoint.split("\n")[2], "base64")
    for (const [nth, each] of receipts.entries()) {
      const [header, proofs, detached, receiptSignature] = readCbor(each)
      assert.deepStrictEqual([readCbor(header).get(395), detached], [1, null])
      assert.isTrue(isSigned(header, root, receiptSignature))
      const [size, index, path] = readCbor(proofs.get(396).get(-1)[0])
      assert.deepStrictEqual([String(size), index], [shown.checkpoint.split("\n")[1], shown.events[nth].index])
      assert.deepStrictEqual(
        path.map((hash: Uint8Array) => Buffer.from(hash).toString("base64url")),
        shown.events[nth].proof,
      )
    }
  })

  it.effect("is COSE only for those who want it at least as much as JSON", function* () {
    const { id, key, world } = yield* setUp
    const typeFor = (accept: string) =>
      Effect.promise(async () => {
        const headers = { accept, authorization: `Bearer ${key}` }
        const response = await fetch(`${world.url}/v1/email/${id}/receipt`, { headers })
        await response.body?.cancel()
        return `${response.status} ${response.headers.get("content-type")}`
      })
    const wanted: ReadonlyArray<readonly [accept: string, type: "cose" | "json"]> = [
      ["Application/COSE; q=0.5", "cose"],
      ['application/cose; cose-type="cose-sign1"', "cose"],
      ["application/json, application/cose", "cose"],
      ["application/cose;q=0.8, application/*;q=0.1, */*", "cose"],
      ["application/cose;q=0", "json"],
      ["application/cose;q=0.000, */*", "json"],
      ["application/cose;q=high", "json"],
      ["application/cose;q=0.5, application/json", "json"],
      ["application/cose;q=0.5, */*", "json"],
      ["application/cose-key, text/html", "json"],
      ["*/*", "json"],
    ]
    for (const [accept, type] of wanted) assert.strictEqual(yield* typeFor(accept), `200 application/${type}`, accept)
  })

  it.effect("is signed by the former key too while that signs, and later by the new one alone", function* () {
    const { receipt, world } = yield* setUp
    const [before] = (yield* receipt()).json.keys
    yield* LogKeys.rotate(Duration.days(1))
    yield* buildLog
    const { json } = yield* receipt()
    assert.isUndefined(yield* problemOf(json))
    assert.strictEqual(json.keys[1], before)
    const { json: log } = yield* world.request("GET", "/.well-known/waybill-log.json")
    assert.deepStrictEqual(log.keys, json.keys)
    assert.deepStrictEqual(
      log.former_keys.map(({ key }: { readonly key: string }) => key),
      [before],
    )
    yield* world.sql`UPDATE log_keys SET ends_at = now() - interval '1 second' WHERE ends_at IS NOT NULL`
    yield* world.sql`UPDATE secrets SET expires_at = now() WHERE id = 'log' AND expires_at IS NOT NULL`
    yield* buildLog
    assert.deepStrictEqual((yield* receipt()).json.keys, json.keys.slice(0, 1))
  })
})
