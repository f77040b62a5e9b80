import * as ApiKeySecret from "@waybill/domain/account/ApiKeySecret"
import * as RateLimit from "@waybill/domain/account/RateLimit"
import { Admission } from "@waybill/store/admission/Admission"
import * as AdmissionStatement from "@waybill/store/admission/AdmissionStatement"
import * as ValidKeys from "@waybill/store/admission/ValidKeys"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { crc32 } from "node:zlib"
import { bearerHash } from "../../../apps/server/src/http/middleware/bearerHash.ts"
import { MAX_LOGIN_ATTEMPTS } from "../../../apps/server/src/smtp/session/Session.ts"
import { bare, paths, read } from "../../house/source.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as Smtp from "../../server/smtp/support.ts"
import { plansOf } from "../../support/postgres/plans.ts"

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Changes the last random digit of a key and corrects its checksum, which gives the closest possible guess. */
const neighbourOf = (secret: string) => {
  const end = ApiKeySecret.MARK.length + ApiKeySecret.BODY_CHARS
  const body = `${secret.slice(ApiKeySecret.MARK.length, end - 1)}${secret[end - 1] === "A" ? "B" : "A"}`
  let checksum = ""
  for (let rest = crc32(body); rest > 0; rest = Math.floor(rest / 62)) checksum = (DIGITS[rest % 62] ?? "") + checksum
  return `${ApiKeySecret.MARK}${body}${checksum.padStart(ApiKeySecret.CHECKSUM_CHARS, "0")}`
}

const unknownKey = (nth: number) => ApiKeySecret.encode(new Uint8Array(ApiKeySecret.RANDOM_BYTES).fill(nth))

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "60 seconds" })("an API key", (it) => {
  // threat: guessed-keys
  it.effect("is looked up only by its hash, with one statement and one plan for any input", function* () {
    const world = yield* HttpWorld
    const { sql } = world
    const account = yield* world.account()
    const valid = (yield* world.key(account)).secret
    const revoked = yield* world.key(account)
    yield* world.request("DELETE", `/v1/api-keys/${revoked.id}`, { key: valid })
    const expired = yield* world.key(account, { expires_at: "2999-01-01T00:00:00.000Z" })
    yield* Effect.orDie(sql`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = ${expired.id}`)
    const otherAddressOnly = (yield* world.key(account, { allowed_ips: ["192.0.2.0/24"] })).secret

    const statements: Array<{ readonly text: string; readonly values: string }> = []
    const recorder = Layer.succeed(Statement.CurrentTransformer, (statement) => {
      const [text, values] = statement.compile()
      if (text.includes("rate_windows")) statements.push({ text, values: JSON.stringify(values) })
      return Effect.succeed(statement)
    })
    const built = yield* Layer.build(
      Layer.fresh(Admission.layer).pipe(Layer.provide(KeyUses.layer), Layer.provide(recorder)),
    )
    const keys = [valid, neighbourOf(valid), revoked.secret, expired.secret, otherAddressOnly, unknownKey(1)]
    const verdicts = yield* Effect.forEach(keys, (key) =>
      Admission.use(({ admit }) =>
        admit({ tokenHash: bearerHash(`Bearer ${key}`), bucket: "other", address: "127.0.0.1" }),
      ).pipe(Effect.provideContext(built)),
    )
    assert.deepStrictEqual(
      verdicts.map((verdict) => (verdict._tag === "Unauthorized" ? verdict.reason : verdict._tag)),
      ["Admitted", "unknown", "revoked", "expired", "address_not_allowed", "unknown"],
    )
    assert.strictEqual(statements.length, keys.length)
    assert.strictEqual(new Set(statements.map(({ text }) => text)).size, 1)
    for (const [nth, key] of keys.entries()) {
      const parameters = statements[nth]?.values ?? ""
      assert.include(parameters, bearerHash(`Bearer ${key}`) ?? "no hash")
      assert.notInclude(parameters, ApiKeySecret.prefixOf(key as ApiKeySecret.ApiKeySecret))
    }

    const lookupsOf = (key: string) => [
      {
        hash: bearerHash(`Bearer ${key}`),
        bucket: "other" as const,
        address: "127.0.0.1",
        anonymousWindow: "ip/127.0.0.1",
        requests: 1,
        exhaustedKey: undefined,
        exhaustedAnonymous: undefined,
      },
    ]
    const steps = new Set<string>()
    for (const key of keys) {
      const [request] = yield* Effect.orDie(plansOf(sql, AdmissionStatement.statement(sql, lookupsOf(key))))
      // The first login reads the directory of cells, too.
      const login = (yield* plansOf(sql, ValidKeys.check(bearerHash(`Bearer ${key}`) ?? "", "127.0.0.1"))).at(-1)
      steps.add(JSON.stringify([request?.steps, login?.steps]))
      for (const plan of [request, login]) assert.include(plan?.steps ?? [], "Index Scan api_keys_by_hash")
    }
    assert.strictEqual(steps.size, 1)
  })
})

layer(HttpWorld.layer({ minuteStands: true }), { excludeTestServices: true, timeout: "60 seconds" })("keys", (it) => {
  // threat: guessed-keys
  it.effect("guesses over HTTP and SMTP share one limit, which never affects the owner of a key", function* () {
    const world = yield* HttpWorld
    const { secret } = yield* world.key(yield* world.account())
    const port = yield* Smtp.submission()
    const overHttp = Math.floor(RateLimit.ANONYMOUS_PER_MINUTE / 2)
    const counted = Effect.map(
      Effect.orDie(world.sql<{ readonly n: number }>`
          SELECT coalesce(sum(count), 0)::int AS n FROM rate_windows WHERE bucket = 'ip/127.0.0.1'`),
      ([row]) => row?.n ?? 0,
    )
    const before = yield* counted
    for (let nth = 0; nth < overHttp; nth++)
      assert.strictEqual((yield* world.request("GET", "/v1/account", { key: unknownKey(nth) })).status, 401)
    const connections = 5
    for (let nth = 0; nth < connections; nth++) {
      const client = yield* Smtp.raw(port)
      const tries = Array.from({ length: MAX_LOGIN_ATTEMPTS + 1 }, (_, at) => Smtp.plain(unknownKey(nth * 10 + at)))
      const replies = yield* Effect.promise(() => client.all(["EHLO x", ...tries]))
      assert.deepStrictEqual(
        replies.slice(1).map((reply) => reply.slice(0, 3)),
        [...tries.slice(1).map(() => "535"), "421"],
      )
    }
    assert.strictEqual((yield* counted) - before, overHttp + connections * MAX_LOGIN_ATTEMPTS)

    // Uses up the rest of the window.
    for (let nth = 0; nth < RateLimit.ANONYMOUS_PER_MINUTE; nth++)
      yield* world.request("GET", "/v1/account", { key: unknownKey(nth) })
    const newClient = yield* Smtp.raw(port)
    const [, refused] = yield* Effect.promise(() => newClient.all(["EHLO x", Smtp.plain(unknownKey(9))]))
    assert.match(refused ?? "", /^421 4\.7\.0 Too many failed logins from this address/u)
    assert.strictEqual((yield* world.request("GET", "/v1/account", { key: secret })).status, 200)
    const owner = yield* Smtp.raw(port)
    const [, welcome] = yield* Effect.promise(() => owner.all(["EHLO x", Smtp.plain(secret)]))
    assert.match(welcome ?? "", /^235 /u)
  })
})

describe("secrets in the code", () => {
  it("every MAC and every token is compared in constant time", () => {
    const comparing = paths
      .filter((path) => /^(?:packages|apps)\/.*\.ts$/u.test(path))
      .map(read)
      .filter(({ text }) => /\b(?:createHmac|timingSafeEqual|subtle\.verify)\b/u.test(bare(text)))
    assert.isAbove(comparing.length, 1)
    const unsafe = comparing.filter(({ text }) =>
      /\b(?:mac|hmac|signature|digest|token)\w*(?:\(\))?\s*[!=]==?(?!=|\s*(?:undefined|null|""))/iu.test(bare(text)),
    )
    assert.deepStrictEqual(
      unsafe.map(({ path }) => path),
      [],
    )
  })
})
