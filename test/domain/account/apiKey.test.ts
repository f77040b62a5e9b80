import * as ApiKey from "@waybill/domain/account/ApiKey"
import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as Network from "@waybill/domain/values/Network"
import { permits } from "@waybill/domain/account/permits"
import * as Scope from "@waybill/domain/account/Scope"
import { Arbitrary, Result, Schema } from "effect"
import { crc32 } from "node:zlib"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { after, domainName, HASH, id, NOW } from "../values/examples.ts"

const secret = ApiKeySecret.encode(new Uint8Array(32).fill(7))
const facts: ApiKey.Context = {
  now: NOW,
  keyId: id("ApiKeyId"),
  secret,
  hash: HASH,
  createdBy: id("UserId"),
  active: 0,
}
const network = Result.getOrThrow(Network.parse("203.0.113.0/24"))
const command = (over: Partial<ApiKey.Command> = {}): ApiKey.Command => ({
  name: "Shop",
  scopes: ["email:send"],
  domain: null,
  allowed_ips: [],
  expires_at: null,
  ...over,
})
const created = (over: Partial<ApiKey.Command> = {}) => happened(ApiKey, [], ApiKey.create(facts, command(over)))

describe("API key", () => {
  // threat: database-copy
  it("a created key holds its hash, never its secret", () => {
    const request = command({
      scopes: ["admin", "email:send", "admin"],
      domain: domainName("acme.test"),
      allowed_ips: [network],
      expires_at: after(1),
    })
    const made = given(ApiKey).when(ApiKey.create(facts, request))
    made.appends({
      _tag: "KeyCreated",
      key_id: id("ApiKeyId"),
      name: "Shop",
      prefix: secret.slice(0, 10),
      hash: HASH,
      scopes: ["email:send", "admin"],
      domain: domainName("acme.test"),
      allowed_ips: [network],
      expires_at: after(1),
      created_by: id("UserId"),
      at: NOW,
    })
    made.leads((key) => assert.notInclude(JSON.stringify(key), secret))
  })
  it("an account has at most 500 active keys", () => {
    const createWith = (active: number) => given(ApiKey).when(ApiKey.create({ ...facts, active }, command()))
    createWith(499).leads(() => undefined)
    createWith(500).refuses({ status: 422, reason: "too_many_api_keys" })
  })
  it("a key cannot expire before it is created", () => {
    given(ApiKey)
      .when(ApiKey.create(facts, command({ expires_at: NOW })))
      .refuses({
        status: 422,
        reason: "expires_at_out_of_range",
        message: "`expires_at` must be in the future; 2026-11-21T09:00:00.000Z is before 2026-11-21T09:00:00.000Z.",
      })
  })
  it("the first revocation counts, and a missing key has none", () => {
    const revoked = (millis: number): ApiKey.Event => ({
      _tag: "KeyRevoked",
      at: after(millis),
    })
    const { state } = given(ApiKey, ...created(), revoked(1), revoked(2))
    assert.strictEqual(state._tag === "Key" && state.revoked_at, after(1))
    assert.deepStrictEqual(given(ApiKey, revoked(1)).state, ApiKey.initial)
    const twice = given(ApiKey, ...created({ name: "First" }), ...created({ name: "Second" })).state
    assert.strictEqual(twice._tag === "Key" && twice.created.name, "First")
  })
  it("a key's name has 1 to 100 characters", () => {
    const named = Schema.is(ApiKey.Name)
    assert.deepStrictEqual(
      ["", "x", "x".repeat(100), "x".repeat(101)].map((name) => named(name)),
      [false, true, true, false],
    )
  })
  it("a key is created once", () => {
    given(ApiKey, ...created())
      .when(ApiKey.create(facts, command()))
      .refuses({ status: 422, reason: "nothing_new" })
  })
  it("revoking again fails with the time of the first revocation", () => {
    given(ApiKey, ...created())
      .when(ApiKey.revoke(after(1)))
      .appends({ _tag: "KeyRevoked", at: after(1) })
    const revoked = happened(ApiKey, created(), ApiKey.revoke(after(1)))
    const again = given(ApiKey, ...revoked)
      .when(ApiKey.revoke(after(2)))
      .refuses({ status: 422, reason: "already_revoked" })
    assert(again._tag === "AlreadyRevoked")
    assert.strictEqual(again.revoked_at, after(1))
    assert.strictEqual(again.message, `This API key was revoked at ${after(1)}.`)
  })
  it("a missing key cannot be revoked", () => {
    given(ApiKey).when(ApiKey.revoke(NOW)).refuses({ status: 404, reason: "api_key_not_found" })
  })
  it("a key is active, then expired; a revoked key is always revoked", () => {
    const key = { expires_at: after(10), revoked_at: null }
    assert.strictEqual(ApiKey.status({ ...key, expires_at: null }, after(99)), "active")
    assert.strictEqual(ApiKey.status(key, after(9)), "active")
    assert.strictEqual(ApiKey.status(key, after(10)), "expired")
    assert.strictEqual(ApiKey.status({ ...key, revoked_at: after(5) }, after(1)), "revoked")
  })
  it("a key's name is one line", () => {
    const accepts = Schema.is(ApiKey.Name)
    assert.deepStrictEqual(
      ["a", "a".repeat(100), "", "a".repeat(101), "a\nb"].map((name) => accepts(name)),
      [true, true, false, false, false],
    )
  })
})

describe("scope", () => {
  it("a scope permits only itself; admin permits all, and email:logs:read what it did before", () => {
    for (const granted of Scope.ALL)
      for (const needed of Scope.ALL)
        assert.strictEqual(
          permits([granted], needed),
          granted === needed ||
            granted === "admin" ||
            (granted === "email:logs:read" && (needed === "stats:read" || needed === "suppressions:read")),
        )
    assert.isFalse(permits([], "email:send"))
  })
  it("the refusal names the missing scope", () => {
    const { status, reason, message, details } = new Scope.MissingScope({ required_scope: "domains:write" })
    assert.deepStrictEqual([status, reason], [403, "missing_scope"])
    assert.strictEqual(
      message,
      "This API key does not have the scope domains:write. Create a key with domains:write, in the dashboard under API keys.",
    )
    assert.deepStrictEqual(details, [{ path: "required_scope", message: "domains:write" }])
  })
})

describe("API key secret", () => {
  it("the secret encodes all of its 32 bytes and nothing else", () => {
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    const bytes = Uint8Array.from({ length: 33 }, (_, i) => 251 - i * 7)
    let value = 0n
    for (const digit of ApiKeySecret.encode(bytes).slice(3, 46)) value = value * 62n + BigInt(digits.indexOf(digit))
    assert.strictEqual(value.toString(16), Buffer.from(bytes.subarray(0, 32)).toString("hex"))
  })
  it("the secret has a fixed length and a CRC-32 that zlib confirms", () => {
    const body = secret.slice(3, 46)
    assert.match(secret, /^wb_[0-9A-Za-z]{49}$/u)
    let value = 0
    for (const digit of secret.slice(46))
      value = value * 62 + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".indexOf(digit)
    assert.strictEqual(value, crc32(body))
  })
  it("the lowest and highest values are padded to the fixed length", () => {
    assert.strictEqual(ApiKeySecret.encode(new Uint8Array(32)).slice(0, 46), `wb_${"0".repeat(43)}`)
    assert.strictEqual(ApiKeySecret.encode(new Uint8Array(32).fill(255)).length, "wb_".length + 43 + 6)
  })
  it.for([
    "",
    "wb_",
    secret.slice(0, -1),
    `${secret}0`,
    ` ${secret}`,
    secret.replace("wb_", "xx_"),
    secret.toLowerCase(),
    "wb_".padEnd(52, "0"),
  ])("%j is not a secret", (text) => assert.isFalse(ApiKeySecret.isWellFormed(text)))
  const bytes = Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
    minLength: 32,
    maxLength: 32,
  })
  const where = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 3, maximum: 51 })))
  it.prop(
    "any single mistyped character is detected",
    { bytes, where },
    ({ bytes, where }) => {
      const key = ApiKeySecret.encode(Uint8Array.from(bytes))
      assert.isTrue(ApiKeySecret.isWellFormed(key))
      const other = key[where] === "x" ? "y" : "x"
      assert.isFalse(ApiKeySecret.isWellFormed(key.slice(0, where) + other + key.slice(where + 1)))
    },
    { arbitrary: { runs: 200 } },
  )
})
