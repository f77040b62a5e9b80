import { Effect, Fiber } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import { authenticator, browser, House, type Seen, tokenOf } from "../../server/signIn/house.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as HeldWrites from "../../support/postgres/HeldWrites.ts"
import * as SoftAuthenticator from "../../support/web/SoftAuthenticator.ts"

const PASSWORD = "correct horse battery"
const RP_ID = "localhost"
const RACERS = 5

type Page = ReturnType<typeof browser>
type Device = ReturnType<typeof SoftAuthenticator.make>

const reasonOf = ({ json, status }: Seen) => [status, json.error?.reason]

/** Gives each test a rate window of its own. */
const resetRateWindows = Effect.gen(function* () {
  const sql = yield* Sql
  yield* sql`DELETE FROM rate_windows WHERE starts_with(bucket, 'sign-in/')`
})

const setUp = Effect.gen(function* () {
  yield* resetRateWindows
  const { owner, url } = yield* House
  const origin = url.replace("127.0.0.1", RP_ID)
  const operator = browser(url)
  yield* operator.signIn(owner)
  const member = Effect.gen(function* () {
    const email = `pia-${randomBytes(4).toString("hex")}@example.org`
    const invited = yield* operator.request("POST", "/v1/members", { body: { email, role: "member" } })
    const body = { token: tokenOf(invited.json.url), newPassword: PASSWORD }
    yield* browser(url).request("POST", "/auth/reset-password", { body })
    const page = browser(url)
    assert.strictEqual((yield* page.signIn({ email, password: PASSWORD })).status, 200)
    return { email, id: String(invited.json.member.id), page }
  })
  return { url, origin, member, device: (id?: Uint8Array) => SoftAuthenticator.make(origin, RP_ID, id) }
})

const registration = (page: Page) =>
  Effect.map(page.request("GET", "/auth/passkey/generate-register-options?name=Laptop"), ({ json }) => json)
const authentication = (page: Page) =>
  Effect.map(page.request("GET", "/auth/passkey/generate-authenticate-options"), ({ json }) => json)
const sendRegistration = (page: Page, response: object) =>
  page.request("POST", "/auth/passkey/verify-registration", { body: { response, name: "Laptop" } })
const sendAuthentication = (page: Page, response: object) =>
  page.request("POST", "/auth/passkey/verify-authentication", { body: { response } })

const register = Effect.fnUntraced(function* (page: Page, device: Device) {
  const seen = yield* sendRegistration(page, device.register(yield* registration(page)))
  assert.strictEqual(seen.status, 200, JSON.stringify(seen.json))
  return String(seen.json.id)
})

const signsIn = Effect.fnUntraced(function* (
  url: string,
  device: Device,
  forgedFields?: SoftAuthenticator.ForgedFields,
) {
  const page = browser(url)
  const seen = yield* sendAuthentication(page, device.authenticate(yield* authentication(page), forgedFields))
  return { page, seen }
})

const FORGERIES: ReadonlyArray<readonly [what: string, forgedFields: SoftAuthenticator.ForgedFields]> = [
  ["another site's origin", { origin: "https://evil.test" }],
  ["another port's origin", { origin: "http://localhost:1" }],
  ["another site's name", { rpId: "evil.test" }],
  ["a challenge of its own", { challenge: randomBytes(32).toString("base64url") }],
  ["nobody present", { userPresent: false }],
  ["nobody verified", { userVerified: false }],
]

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("a passkey", (it) => {
  it.effect("signs in its owner and requires the authenticator to verify the user", function* () {
    const { device, member, url } = yield* setUp
    const pia = yield* member
    const laptop = device()
    assert.strictEqual((yield* registration(pia.page)).authenticatorSelection.userVerification, "required")
    assert.strictEqual((yield* authentication(browser(url))).userVerification, "required")
    yield* register(pia.page, laptop)
    const { page, seen } = yield* signsIn(url, laptop)
    assert.strictEqual(seen.status, 200, JSON.stringify(seen.json))
    assert.strictEqual((yield* page.request("GET", "/v1/session")).json.actor.id, pia.id)
  })

  // threat: passkeys
  it.effect("is not registered with a wrong site, a wrong challenge or without user verification", function* () {
    const { device, member } = yield* setUp
    const { page } = yield* member
    for (const [what, forgedFields] of [...FORGERIES, ["the other ceremony", { type: "webauthn.get" }] as const]) {
      yield* resetRateWindows
      const seen = yield* sendRegistration(page, device().register(yield* registration(page), forgedFields))
      assert.isTrue(seen.status === 400 || seen.status === 401, `${what}: ${JSON.stringify(seen.json)}`)
      assert.notStrictEqual(seen.json.error?.reason, undefined, what)
    }
    assert.deepStrictEqual(JSON.parse((yield* page.request("GET", "/auth/passkey/list-user-passkeys")).json), [])
  })

  // threat: passkeys
  it.effect("does not sign in with wrong client data, a lower counter or a signature by another key", function* () {
    const { device, member, url } = yield* setUp
    const { page } = yield* member
    const id = randomBytes(32)
    const laptop = device(id)
    yield* register(page, laptop)
    assert.strictEqual((yield* signsIn(url, laptop, { counter: 9 })).seen.status, 200)
    const wrong: ReadonlyArray<readonly [string, SoftAuthenticator.ForgedFields]> = [
      ...FORGERIES,
      ["the other ceremony", { type: "webauthn.create" }],
      ["the same counter", { counter: 9 }],
      ["a counter that went back", { counter: 3 }],
    ]
    for (const [nth, [what, forgedFields]] of wrong.entries()) {
      yield* resetRateWindows
      const { page: thief, seen } = yield* signsIn(url, laptop, { counter: 10 + nth, ...forgedFields })
      assert.strictEqual(seen.status, 401, `${what}: ${JSON.stringify(seen.json)}`)
      assert.strictEqual((yield* thief.request("GET", "/v1/session")).status, 401, what)
    }
    // Two copies of the same answer race: both are read before either is written.
    yield* resetRateWindows
    const [one, two] = [browser(url), browser(url)]
    const answers = [
      { page: one, answer: laptop.authenticate(yield* authentication(one), { counter: 25 }) },
      { page: two, answer: laptop.authenticate(yield* authentication(two), { counter: 25 }) },
    ]
    const heldWrites = yield* HeldWrites.hold("user_passkeys", "UPDATE")
    const racing = Effect.all(
      answers.map(({ answer, page }) => sendAuthentication(page, answer)),
      { concurrency: "unbounded" },
    )
    const copies = yield* Effect.forkChild(racing)
    yield* heldWrites.until(2)
    yield* heldWrites.release
    const seen = (yield* Fiber.join(copies)).map(({ status }) => status)
    assert.deepStrictEqual(seen.toSorted(), [200, 401])
    yield* heldWrites.drop
    yield* resetRateWindows
    // The same credential signed by another key, and a credential that is not registered.
    assert.strictEqual((yield* signsIn(url, device(id))).seen.status, 401)
    assert.strictEqual((yield* signsIn(url, device())).seen.status, 401)
    assert.strictEqual((yield* signsIn(url, laptop, { counter: 30 })).seen.status, 200)
  })

  // threat: passkeys
  it.effect("a challenge is valid once, in the browser and for the ceremony that requested it", function* () {
    const { device, member, url } = yield* setUp
    const { page } = yield* member
    const laptop = device()
    const challenge = yield* registration(page)
    const registered = laptop.register(challenge)
    assert.strictEqual((yield* sendRegistration(page, registered)).status, 200)
    assert.deepStrictEqual(reasonOf(yield* sendRegistration(page, registered)), [400, "challenge_not_found"])

    // The answer is replayed by the same browser with its old cookie, and by several browsers at once.
    const first = browser(url)
    const answer = laptop.authenticate(yield* authentication(first))
    const cookies = [...first.jar]
    const racers = Array.from({ length: RACERS }, () => {
      const racer = browser(url)
      for (const [name, value] of cookies) racer.jar.set(name, value)
      return racer
    })
    const seen = yield* Effect.all(
      racers.map((racer) => sendAuthentication(racer, answer)),
      { concurrency: "unbounded" },
    )
    assert.strictEqual(seen.filter(({ status }) => status === 200).length, 1, JSON.stringify(seen.map(reasonOf)))
    assert.deepStrictEqual(reasonOf(yield* sendAuthentication(first, answer)), [400, "challenge_not_found"])

    // An answer captured in one browser is used in another that has its own challenge.
    const victim = browser(url)
    const captured = laptop.authenticate(yield* authentication(victim))
    const thief = browser(url)
    yield* authentication(thief)
    assert.strictEqual((yield* sendAuthentication(thief, captured)).status, 401)
    assert.strictEqual((yield* sendAuthentication(browser(url), captured)).status, 400)

    // The challenge of a registration signs nobody in.
    const wrongCeremony = laptop.authenticate(yield* registration(page))
    assert.deepStrictEqual(reasonOf(yield* sendAuthentication(page, wrongCeremony)), [400, "challenge_not_found"])
  })

  // threat: passkeys
  it.effect(
    "is registered only for the user of a recent session, and replaces no credential of another user",
    function* () {
      const { device, member, url } = yield* setUp
      const [pia, eve] = [yield* member, yield* member]
      // Eve answers a challenge that was made for Pia, with her own session.
      const challenge = yield* registration(pia.page)
      const response = device().register(challenge)
      for (const [name, value] of pia.page.jar) if (name.endsWith("passkey")) eve.page.jar.set(name, value)
      const refused = yield* sendRegistration(eve.page, response)
      assert.strictEqual(refused.status, 401, JSON.stringify(refused.json))
      // Requests without a session, or with a session too old to change sign-in methods.
      assert.strictEqual((yield* registration(browser(url))).error?.code, "unauthorized")
      const sql = yield* Sql
      yield* sql`UPDATE user_sessions SET created_at = now() - interval '2 hours' WHERE user_id = ${eve.id}`
      assert.strictEqual((yield* registration(eve.page)).error?.reason, "session_not_fresh")
      yield* sql`UPDATE user_sessions SET created_at = now() WHERE user_id = ${eve.id}`
      // Registers Pia's credential id with a key of Eve's.
      const id = randomBytes(32)
      const laptop = device(id)
      yield* register(pia.page, laptop)
      const forged = yield* sendRegistration(eve.page, device(id).register(yield* registration(eve.page)))
      assert.deepStrictEqual(reasonOf(forged), [400, "failed_to_verify_registration"])
      const { page } = yield* signsIn(url, laptop)
      assert.strictEqual((yield* page.request("GET", "/v1/session")).json.actor.id, pia.id)
    },
  )

  // threat: passkeys
  it.effect(
    "only its owner removes it, after a sign-in within the last hour, and it then signs in no more",
    function* () {
      const { device, member, url } = yield* setUp
      const [pia, eve] = [yield* member, yield* member]
      const laptop = device()
      const id = yield* register(pia.page, laptop)
      const remove = (page: Page) => page.request("POST", "/auth/passkey/delete-passkey", { body: { id } })
      assert.strictEqual((yield* remove(eve.page)).status, 401)
      assert.strictEqual((yield* remove(browser(url))).status, 401)
      const sql = yield* Sql
      yield* sql`UPDATE user_sessions SET created_at = now() - interval '2 hours' WHERE user_id = ${pia.id}`
      assert.deepStrictEqual(reasonOf(yield* remove(pia.page)), [403, "session_not_fresh"])
      yield* sql`UPDATE user_sessions SET created_at = now() WHERE user_id = ${pia.id}`
      assert.strictEqual((yield* remove(pia.page)).status, 200)
      assert.strictEqual((yield* signsIn(url, laptop)).seen.status, 401)
    },
  )

  // threat: passkeys
  it.effect(
    "the cookie of a pending second factor, which has the same signature, is not accepted as a challenge",
    function* () {
      const { device, member, url } = yield* setUp
      const pia = yield* member
      const { json } = yield* pia.page.request("POST", "/auth/two-factor/enable", { body: { password: PASSWORD } })
      const body = { code: yield* authenticator(json.totpURI) }
      yield* pia.page.request("POST", "/auth/two-factor/verify-totp", { body })
      const thief = browser(url)
      yield* thief.signIn({ email: pia.email, password: PASSWORD })
      const challenge = yield* authentication(thief)
      const [waiting = ""] = [...thief.jar].flatMap(([name, value]) => (name.endsWith("two_factor") ? [value] : []))
      const ceremony = [...thief.jar.keys()].find((name) => name.endsWith("passkey")) ?? ""
      thief.jar.set(ceremony, waiting)
      const seen = yield* sendAuthentication(thief, device().authenticate(challenge))
      assert.deepStrictEqual(reasonOf(seen), [400, "challenge_not_found"])
    },
  )
})
