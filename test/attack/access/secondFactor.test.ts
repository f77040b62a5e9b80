import { Effect, Fiber, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import { TRIES_PER_MINUTE } from "../../../apps/server/src/signIn/Options.ts"
import { authenticator, browser, House, type Seen, tokenOf } from "../../server/signIn/house.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as HeldWrites from "../../support/postgres/HeldWrites.ts"
import { runToEnd } from "../../support/process/service.ts"

const PASSWORD = "correct horse battery"
const NEXT_PASSWORD = "another battery staple"
const WRONG = "not the password of anybody"
const PARALLEL = 100
const RACERS = 6

type Page = ReturnType<typeof browser>

const statuses = (seen: ReadonlyArray<Seen>) => seen.map(({ status }) => status)
const reasonOf = ({ json, status }: Seen) => [status, json.error?.reason]

/** Creates a member with a password and an authenticator, whose browser can be trusted to skip the code. */
const member = Effect.gen(function* () {
  const { key, owner, url } = yield* House
  const email = `mia-${randomBytes(4).toString("hex")}@example.org`
  const operator = browser(url)
  yield* operator.signIn(owner)
  const asKey = { headers: { authorization: `Bearer ${key}` } }
  const invited = yield* operator.request("POST", "/v1/members", { body: { email, role: "member" }, ...asKey })
  const setPassword = (link: string, newPassword: string) =>
    browser(url).request("POST", "/auth/reset-password", { body: { token: tokenOf(link), newPassword } })
  yield* setPassword(invited.json.url, PASSWORD)
  const page = browser(url)
  yield* page.signIn({ email, password: PASSWORD })
  const enrol = Effect.fnUntraced(function* (by: Page, password = PASSWORD) {
    const { json } = yield* by.request("POST", "/auth/two-factor/enable", { body: { password } })
    const next = authenticator(json.totpURI)
    const code = yield* next
    const seen = yield* by.request("POST", "/auth/two-factor/verify-totp", { body: { code } })
    assert.strictEqual(seen.status, 200, JSON.stringify(seen.json))
    return { next, enrolled: code, backupCodes: json.backupCodes as ReadonlyArray<string> }
  })
  const factor = yield* enrol(page)
  /** Signs in up to the request for a second factor. */
  const beginSignIn = Effect.fnUntraced(function* (password = PASSWORD) {
    const pending = browser(url)
    const { json } = yield* pending.signIn({ email, password })
    assert.deepInclude(json, { twoFactorRedirect: true })
    return pending
  })
  const trust = Effect.gen(function* () {
    const trusted = yield* beginSignIn()
    const body = { code: yield* factor.next, trustDevice: true }
    assert.strictEqual((yield* trusted.request("POST", "/auth/two-factor/verify-totp", { body })).status, 200)
    assert.isTrue([...trusted.jar.keys()].some((name) => name.endsWith("trust_device")))
    return trusted
  })
  return {
    id: String(invited.json.member.id),
    email,
    url,
    operator,
    page,
    enrol,
    beginSignIn,
    trust,
    factor,
    setPassword,
  }
})

/** Returns whether this browser may still skip the code. */
const isTrusted = (trusted: Page, email: string, password: string) =>
  Effect.map(trusted.signIn({ email, password }), ({ json, status }) => {
    assert.strictEqual(status, 200, JSON.stringify(json))
    return json.twoFactorRedirect !== true
  })

const command = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { url } = yield* Database.Fresh
  const { code, output } = yield* Effect.promise(() => runToEnd(args, { DATABASE_URL: Redacted.value(url) }))
  assert.strictEqual(code, 0, output)
  return output
})

/** Starts new rate windows by deleting the current ones. */
const resetRateWindows = Effect.gen(function* () {
  const sql = yield* Sql
  yield* sql`DELETE FROM rate_windows WHERE starts_with(bucket, 'sign-in/')`
})

layer(House.layerOfOneMinute, { excludeTestServices: true, timeout: "120 seconds" })("a second factor", (it) => {
  // threat: password-change
  it.effect("a trusted browser needs the code again after every kind of password change", function* () {
    const { email, factor, id, operator, page, setPassword, trust, url } = yield* member
    const trusted = yield* trust
    assert.isTrue(yield* isTrusted(trusted, email, PASSWORD))
    const waiting = browser(url)
    yield* waiting.signIn({ email, password: PASSWORD })

    const change = { currentPassword: PASSWORD, newPassword: NEXT_PASSWORD }
    assert.strictEqual((yield* page.request("POST", "/auth/change-password", { body: change })).status, 200)
    assert.isFalse(yield* isTrusted(trusted, email, NEXT_PASSWORD))
    // A sign-in that began before the change and lacks only the code does not complete either.
    const body = { code: factor.backupCodes[0] }
    const lateReply = yield* waiting.request("POST", "/auth/two-factor/verify-backup-code", { body })
    assert.deepStrictEqual(reasonOf(lateReply), [401, "invalid_two_factor_cookie"])

    // Repeats the check for a link and for the command line; the trust is restored before each.
    const sql = yield* Sql
    const passwordChanges = [
      Effect.gen(function* () {
        const link = yield* operator.request("POST", `/v1/members/${id}/link`)
        assert.strictEqual((yield* setPassword(link.json.url, PASSWORD)).status, 200)
      }),
      command("users", "password", email),
    ]
    for (const changePassword of passwordChanges) {
      yield* sql`INSERT INTO user_verifications (id, identifier, value, expires_at, created_at, updated_at)
          VALUES ('kept', 'trust-device-kept', ${id}, now() + interval '1 day', now(), now())`
      yield* changePassword
      assert.deepStrictEqual(yield* sql`SELECT id FROM user_verifications WHERE value = ${id}`, [])
    }
  })

  // threat: password-change
  it.effect(
    "a trusted browser needs the code again after the second factor was removed and set up again",
    function* () {
      const { email, enrol, id, page, trust } = yield* member
      const sql = yield* Sql
      const trusted = yield* trust
      assert.isTrue(yield* isTrusted(trusted, email, PASSWORD))
      const { status } = yield* page.request("POST", "/auth/two-factor/disable", { body: { password: PASSWORD } })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(yield* sql`SELECT id FROM user_verifications WHERE value = ${id}`, [])
      yield* enrol(page)
      assert.isFalse(yield* isTrusted(trusted, email, PASSWORD))
    },
  )

  // threat: password-change
  it.effect("a password change stops a sign-in that is in progress", function* () {
    const { beginSignIn, email, factor, id } = yield* member
    const sql = yield* Sql
    const racing = yield* beginSignIn()
    // Holds the write of the session, which follows all checks.
    const heldWrites = yield* HeldWrites.hold("user_sessions", "INSERT")
    const body = { code: yield* factor.next, trustDevice: true }
    const waiting = yield* Effect.forkChild(racing.request("POST", "/auth/two-factor/verify-totp", { body }))
    yield* heldWrites.until(1)
    yield* command("users", "password", email)
    yield* heldWrites.release
    const seen = yield* Fiber.join(waiting)
    assert.strictEqual(seen.status, 401, JSON.stringify(seen.json))
    assert.strictEqual((yield* racing.request("GET", "/v1/session")).status, 401)
    assert.deepStrictEqual(yield* sql`SELECT id FROM user_sessions WHERE user_id = ${id}`, [])
    assert.deepStrictEqual(yield* sql`SELECT id FROM user_verifications WHERE value = ${id}`, [])
    yield* heldWrites.drop
  })

  // threat: reused-code
  it.effect("each code is valid once: not after enrolment, not if older, not in concurrent requests", function* () {
    const { beginSignIn, factor } = yield* member
    const submitCode = (page: Page, code: string) =>
      page.request("POST", "/auth/two-factor/verify-totp", { body: { code } })
    assert.deepStrictEqual(reasonOf(yield* submitCode(yield* beginSignIn(), factor.enrolled)), [401, "invalid_code"])
    const code = yield* factor.next
    const racers = yield* Effect.forEach(Array.from({ length: RACERS }), () => beginSignIn())
    const seen = yield* Effect.all(
      racers.map((page) => submitCode(page, code)),
      { concurrency: "unbounded" },
    )
    assert.deepStrictEqual(statuses(seen).toSorted(), [200, ...Array.from({ length: RACERS - 1 }, () => 401)])
    assert.deepStrictEqual(reasonOf(yield* submitCode(yield* beginSignIn(), factor.enrolled)), [401, "invalid_code"])
  })

  // threat: reused-code
  it.effect("each backup code is valid once, also in concurrent requests", function* () {
    const { beginSignIn, factor } = yield* member
    const [code] = factor.backupCodes
    const racers = yield* Effect.forEach(Array.from({ length: RACERS }), () => beginSignIn())
    const seen = yield* Effect.all(
      racers.map((page) => page.request("POST", "/auth/two-factor/verify-backup-code", { body: { code } })),
      { concurrency: "unbounded" },
    )
    assert.strictEqual(seen.filter(({ status }) => status === 200).length, 1, JSON.stringify(statuses(seen)))
    assert.isTrue(seen.every(({ status }) => status < 500))
    const repeated = yield* (yield* beginSignIn()).request("POST", "/auth/two-factor/verify-backup-code", {
      body: { code },
    })
    assert.strictEqual(repeated.status, 401)
  })

  // threat: guessed-passwords
  it.effect(
    "guesses of codes and passwords within a session are limited on every path, also in parallel",
    function* () {
      const { page } = yield* member
      // These paths are closed: the dashboard does not use them.
      for (const path of ["/verify-password", "/two-factor/generate-backup-codes", "/two-factor/get-totp-uri"])
        assert.strictEqual(
          (yield* page.request("POST", `/auth${path}`, { body: { password: WRONG } })).status,
          404,
          path,
        )

      yield* resetRateWindows
      const ways = [
        ["/auth/two-factor/enable", { password: WRONG }],
        ["/auth/two-factor/disable", { password: WRONG }],
        ["/auth/change-password", { currentPassword: WRONG, newPassword: NEXT_PASSWORD }],
      ] as const
      // Each guess comes from another address, as from a thief of a session who has many addresses.
      const guesses = Array.from({ length: PARALLEL }, (_, nth) => {
        const [path, body] = ways[nth % ways.length] ?? ways[0]
        return page.request("POST", path, { body, headers: { "x-forwarded-for": `203.0.113.${nth}` } })
      })
      const seen = yield* Effect.all(guesses, { concurrency: "unbounded" })
      assert.lengthOf(
        seen.filter(({ status }) => status === 400),
        TRIES_PER_MINUTE,
      )
      assert.isTrue(seen.every(({ status }) => status === 400 || status === 429))
    },
  )

  // threat: guessed-passwords
  it.effect("guesses of a code with the right password are limited over all browsers and addresses", function* () {
    const { beginSignIn } = yield* member
    const thieves = yield* Effect.forEach(Array.from({ length: 3 * TRIES_PER_MINUTE }), () => beginSignIn(), {
      concurrency: RACERS,
    })
    yield* resetRateWindows
    const seen = yield* Effect.all(
      thieves.map((thief, nth) =>
        thief.request("POST", "/auth/two-factor/verify-totp", { body: { code: String(100_000 + nth) } }),
      ),
      { concurrency: "unbounded" },
    )
    assert.lengthOf(
      seen.filter(({ status }) => status === 401),
      TRIES_PER_MINUTE,
    )
    assert.strictEqual(seen.at(-1)?.status === 200, false)
    assert.isTrue(seen.every(({ status }) => status === 401 || status === 429))
  })
})
