import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import { MAX_WRONG_CODES } from "../../../apps/server/src/signIn/BetterAuth.ts"
import { TRIES_PER_MINUTE } from "../../../apps/server/src/signIn/Options.ts"
import { authenticator, browser, House, type Seen, tokenOf } from "../../server/signIn/house.ts"
import { assert, layer } from "../../support/effectTest.ts"

const PATHS = [
  "/auth/sign-in/email",
  "/auth/sign-in/social",
  "/auth/sign-out",
  "/auth/reset-password",
  "/auth/change-password",
  "/auth/two-factor/enable",
  "/auth/two-factor/verify-totp",
  "/auth/two-factor/verify-backup-code",
  "/auth/passkey/verify-authentication",
  "/auth/passkey/verify-registration",
  "/auth/update-user",
  "/auth/revoke-session",
  "/auth/no-such-path",
]
const deep = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`
const BODIES: ReadonlyArray<readonly [what: string, body: string]> = [
  ["nothing", ""],
  ["no JSON", "{"],
  ["null", "null"],
  ["a number", "1e999"],
  ["a list", "[]"],
  ["a text", '"x"'],
  ["objects for texts", '{"email":{"$ne":null},"password":{"$gt":""},"code":{},"token":[]}'],
  ["lists for texts", '{"email":["a@b.cc"],"password":["x"],"code":["000000"]}'],
  ["SQL", `{"email":"' OR 1=1 --@b.cc","password":"' OR '1'='1"}`],
  ["NUL", '{"email":"a\\u0000@b.cc","password":"\\u0000","token":"\\u0000","code":"\\u0000"}'],
  ["half a pair", '{"email":"\\ud800@b.cc","password":"\\ud800","token":"\\ud800","code":"\\udfff"}'],
  ["prototypes", '{"__proto__":{"email":"a@b.cc"},"constructor":{"prototype":{}},"email":"a@b.cc","password":"x"}'],
  ["a long address", JSON.stringify({ email: `${"a".repeat(30_000)}@b.cc`, password: "x".repeat(30_000) })],
  ["depth", `{"email":"a@b.cc","password":${deep(20_000)}}`],
  ["more than is taken", JSON.stringify({ email: "a@b.cc", password: "x".repeat(200_000) })],
  [
    "a foreign callback",
    '{"email":"a@b.cc","password":"x","callbackURL":"https://evil.test/","redirectTo":"//evil.test"}',
  ],
]

const TYPES = ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]

const WRONG = "not the password of anybody"

const statuses = (seen: ReadonlyArray<Seen>) => seen.map(({ status }) => status)

/** Headers other than the proxies' list in which a client may claim an address. */
const ADDRESS_HEADERS = ["x-waybill-client", "x-real-ip", "cf-connecting-ip", "x-client-ip"]

/** Guesses more often than a minute allows. */
const guess = Effect.fnUntraced(function* (
  url: string,
  email: string,
  addressOf: (nth: number) => string,
  headersOf: (nth: number) => Readonly<Record<string, string>> = () => ({}),
) {
  const seen: Array<Seen> = []
  while (seen.length < TRIES_PER_MINUTE + 1)
    seen.push(
      yield* browser(url, addressOf(seen.length)).request("POST", "/auth/sign-in/email", {
        body: { email, password: WRONG },
        headers: headersOf(seen.length),
      }),
    )
  return seen
})

const PASSWORD = "correct horse battery"

/** Sets a password with a link, from a separate address. */
const useLink = (url: string, link: string, newPassword = PASSWORD) =>
  browser(url).request("POST", "/auth/reset-password", { body: { token: tokenOf(link), newPassword } })

const reasonOf = ({ json, status }: Seen) => [status, json.error?.reason]

/** Returns a key holder and a second owner of the first account, and the owner of another account. */
const setUp = Effect.gen(function* () {
  const { key, owner, url } = yield* House
  const byKey = (method: string, path: string, body?: unknown) =>
    browser(url).request(method, path, { body, headers: { authorization: `Bearer ${key}` } })
  const operator = browser(url)
  yield* operator.signIn(owner)
  const { id: operatorId } = (yield* operator.request("GET", "/v1/session")).json.actor
  const name = randomBytes(4).toString("hex")
  const join = Effect.fnUntraced(function* (email: string, link: string) {
    assert.strictEqual((yield* useLink(url, link)).status, 200)
    const page = browser(url)
    assert.strictEqual((yield* page.signIn({ email, password: PASSWORD })).status, 200)
    return page
  })
  const eve = { email: `eve-${name}@example.org`, role: "owner" }
  const invited = yield* operator.request("POST", "/v1/members", { body: eve })
  const account = { name: "B", owner: `bea-${name}@example.org`, plan: "free" }
  const { link } = (yield* operator.request("POST", "/v1/operate/accounts", { body: account })).json
  return {
    byKey,
    url,
    name,
    operator: { page: operator, id: operatorId },
    eve: { page: yield* join(eve.email, invited.json.url), id: invited.json.member.id },
    bea: { page: yield* join(account.owner, link.url), id: link.member.id },
  }
})

layer(House.layerOfOneMinute, { excludeTestServices: true, timeout: "90 seconds" })("sign-in", (it) => {
  // threat: invalid-input
  it.effect("invalid data gets a 4xx, never an internal error", function* () {
    const { url } = yield* House
    let nth = 0
    for (const path of PATHS) {
      for (const [at, [what, body]] of BODIES.entries()) {
        // Other content types are refused before the body is read.
        for (const type of at === 0 ? TYPES : TYPES.slice(0, 1)) {
          nth++
          const response = yield* Effect.promise(() =>
            fetch(url + path, {
              method: "POST",
              redirect: "manual",
              headers: { origin: url, "content-type": type, "x-forwarded-for": `10.1.${nth >> 8}.${nth & 255}` },
              body,
            }),
          )
          const text = yield* Effect.promise(() => response.text())
          const context = `${path} with ${what} as ${type}: ${response.status} ${text.slice(0, 200)}`
          const isHarmless = path === "/auth/sign-out" && response.status === 200
          assert.isTrue((response.status >= 400 && response.status < 500) || isHarmless, context)
          assert.isNull(response.headers.get("location"), context)
          assert.notMatch(text, /\bat \S+:\d+|node_modules|SELECT /u, context)
        }
      }
    }
  })

  // threat: guessed-passwords
  it.effect("a wrong password and an unknown address get the same answer", function* () {
    const { owner, url } = yield* House
    const [wrong, nobody] = yield* Effect.all([
      browser(url).signIn({ email: owner.email, password: WRONG }),
      browser(url).signIn({ email: "nobody@example.org", password: WRONG }),
    ])
    const errorOf = ({ json }: Seen) => ({ ...json.error, request_id: "" })
    assert.deepStrictEqual([wrong.status, errorOf(wrong)], [401, errorOf(nobody)])
    assert.strictEqual(nobody.status, 401)
    assert.deepStrictEqual([...wrong.headers.keys()].toSorted(), [...nobody.headers.keys()].toSorted())
  })

  // threat: guessed-passwords
  it.effect(
    "more tries than a minute allows close one address, for the right password too, and no other address",
    function* () {
      const { owner, url } = yield* House
      const seen = statuses(yield* guess(url, owner.email, () => "192.0.2.7"))
      assert.deepStrictEqual(seen, [...Array<number>(TRIES_PER_MINUTE).fill(401), 429])
      assert.strictEqual((yield* browser(url, "192.0.2.7").signIn(owner)).status, 429)
      assert.strictEqual((yield* browser(url, "192.0.2.8").signIn(owner)).status, 200)
    },
  )

  it.effect("an IPv6 network counts as one client, and no header sets another address", function* () {
    const { owner, url } = yield* House
    const spread = yield* guess(url, owner.email, (nth) => `2001:db8:1:2:${(nth * 2_003).toString(16)}::${nth + 1}`)
    assert.strictEqual(statuses(spread).at(-1), 429)
    // Sends another address in each header at once: if any header were trusted, no address would repeat.
    const seen = yield* guess(
      url,
      owner.email,
      () => "198.51.100.7",
      (nth) => ({
        ...Object.fromEntries(ADDRESS_HEADERS.map((name) => [name, `203.0.113.${nth}`])),
        forwarded: `for=203.0.113.${nth}`,
      }),
    )
    assert.strictEqual(statuses(seen).at(-1), 429)
  })

  // threat: operator-takeover
  it.effect("neither a key nor another owner can create a link for an operator or remove an operator", function* () {
    const { bea, byKey, eve, operator, url } = yield* setUp
    for (const { id, reason } of [
      { id: operator.id, reason: "member_is_operator" },
      { id: eve.id, reason: "member_has_joined" },
    ])
      assert.deepStrictEqual(reasonOf(yield* byKey("POST", `/v1/members/${id}/link`)), [422, reason])
    assert.deepStrictEqual(reasonOf(yield* byKey("DELETE", `/v1/members/${operator.id}`)), [422, "member_is_operator"])
    for (const reply of [
      yield* eve.page.request("POST", `/v1/members/${operator.id}/link`),
      yield* eve.page.request("DELETE", `/v1/members/${operator.id}`),
    ])
      assert.deepStrictEqual(reasonOf(reply), [422, "member_is_operator"])
    for (const reply of [
      yield* bea.page.request("POST", `/v1/members/${operator.id}/link`),
      yield* bea.page.request("DELETE", `/v1/members/${eve.id}`),
    ])
      assert.deepStrictEqual(reasonOf(reply), [404, "member_not_found"])
    // Users cannot make links for themselves: a stolen session would become a password. An operator helps others.
    for (const { id, page } of [eve, operator])
      assert.deepStrictEqual(reasonOf(yield* page.request("POST", `/v1/members/${id}/link`)), [
        422,
        "member_has_joined",
      ])
    const helped = yield* operator.page.request("POST", `/v1/members/${eve.id}/link`)
    assert.strictEqual((yield* useLink(url, helped.json.url)).status, 200)
  })

  // threat: password-change
  it.effect("only the newest link is valid, and none after one was used", function* () {
    const { byKey, name, url } = yield* setUp
    const first = yield* byKey("POST", "/v1/members", { email: `ann-${name}@example.org`, role: "viewer" })
    const { id } = first.json.member
    const second = yield* byKey("POST", `/v1/members/${id}/link`)
    assert.strictEqual((yield* useLink(url, first.json.url)).status, 400)
    // Two links that were made at the same moment.
    const sql = yield* Sql
    yield* sql`INSERT INTO user_verifications (id, identifier, value, expires_at, created_at, updated_at)
        VALUES (${name}, ${`reset-password:${name}`}, ${id}, now() + interval '1 day', now(), now())`
    assert.strictEqual((yield* useLink(url, second.json.url)).status, 200)
    assert.strictEqual((yield* useLink(url, `${url}/welcome#${name}`)).status, 400)
  })

  it.effect("one of several links requested at the same time is valid", function* () {
    const { byKey, name, url } = yield* setUp
    const { member } = (yield* byKey("POST", "/v1/members", { email: `amy-${name}@example.org`, role: "viewer" })).json
    const links = yield* Effect.all(
      Array.from({ length: 4 }, () => byKey("POST", `/v1/members/${member.id}/link`)),
      { concurrency: "unbounded" },
    )
    const opened = yield* Effect.forEach(links, ({ json }) => useLink(url, json.url))
    assert.deepStrictEqual(statuses(opened).toSorted(), [200, 400, 400, 400])
  })

  // threat: password-change
  it.effect("a password change ends all other sessions and all links by other owners", function* () {
    const { eve, name, operator, url } = yield* setUp
    const otherSession = browser(url)
    assert.strictEqual(
      (yield* otherSession.signIn({ email: `eve-${name}@example.org`, password: PASSWORD })).status,
      200,
    )
    const { url: link } = (yield* operator.page.request("POST", `/v1/members/${eve.id}/link`)).json
    const change = (currentPassword: string) => {
      const body = { currentPassword, newPassword: "eve's next password", revokeOtherSessions: false }
      return eve.page.request("POST", "/auth/change-password", { body })
    }
    assert.strictEqual((yield* change(WRONG)).status, 400)
    assert.strictEqual((yield* otherSession.request("GET", "/v1/session")).status, 200)
    assert.strictEqual((yield* change(PASSWORD)).status, 200)
    assert.strictEqual((yield* otherSession.request("GET", "/v1/session")).status, 401)
    assert.strictEqual((yield* eve.page.request("GET", "/v1/session")).status, 200)
    assert.strictEqual((yield* useLink(url, link)).status, 400)
  })

  // threat: changed-account
  it.effect("an earlier password or link of one account does not sign in to another account", function* () {
    const { bea, byKey, name, url } = yield* setUp
    const carl = { email: `carl-${name}@example.org`, password: PASSWORD }
    const invitation = { email: carl.email, role: "member" }
    const { member, url: before } = (yield* byKey("POST", "/v1/members", invitation)).json
    const inB = () => bea.page.request("POST", "/v1/members", { body: invitation })
    yield* byKey("DELETE", `/v1/members/${member.id}`)
    assert.strictEqual((yield* useLink(url, before)).status, 400)

    // The user joined A, was removed there and is invited into B: the credentials of A do not sign in to B.
    const rejoined = (yield* byKey("POST", "/v1/members", invitation)).json
    assert.strictEqual((yield* useLink(url, rejoined.url)).status, 200)
    assert.strictEqual((yield* browser(url).signIn(carl)).status, 200)
    yield* byKey("DELETE", `/v1/members/${rejoined.member.id}`)
    const { url: link } = (yield* inB()).json
    assert.strictEqual((yield* browser(url).signIn(carl)).status, 401)
    assert.strictEqual((yield* useLink(url, link, "carl's own password")).status, 200)
    const page = browser(url)
    assert.strictEqual((yield* page.signIn({ ...carl, password: "carl's own password" })).status, 200)
    assert.deepInclude((yield* page.request("GET", "/v1/session")).json, { role: "member", operator: false })
  })

  // threat: operator-takeover
  it.effect("an invitation of the address of an operator without an account creates another user", function* () {
    const { bea, byKey, name, url } = yield* setUp
    const dan = { email: `dan-${name}@example.org`, role: "member" }
    const invited = yield* byKey("POST", "/v1/members", dan)
    yield* useLink(url, invited.json.url)
    yield* byKey("DELETE", `/v1/members/${invited.json.member.id}`)
    const sql = yield* Sql
    yield* sql`UPDATE users SET operator = true WHERE id = ${invited.json.member.id}`
    for (const reply of [
      yield* bea.page.request("POST", "/v1/members", { body: dan }),
      yield* byKey("POST", "/v1/members", dan),
    ]) {
      assert.strictEqual(reply.status, 201)
      assert.notStrictEqual(reply.json.member.id, invited.json.member.id)
      yield* useLink(url, reply.json.url)
    }
    const operators = yield* sql`SELECT id FROM users WHERE email = ${dan.email} AND operator`
    assert.deepStrictEqual(operators, [{ id: invited.json.member.id }])
    const page = browser(url)
    assert.strictEqual((yield* page.signIn({ email: dan.email, password: PASSWORD })).status, 200)
    assert.isFalse((yield* page.request("GET", "/v1/session")).json.operator)
  })

  // threat: guessed-passwords
  it.effect("consecutive wrong codes lock the second factor, from whatever addresses they come", function* () {
    const { owner, url } = yield* House
    const page = browser(url)
    assert.strictEqual((yield* page.signIn(owner)).status, 200)
    const { json } = yield* page.request("POST", "/auth/two-factor/enable", { body: { password: owner.password } })
    const right = Effect.map(authenticator(json.totpURI), (code) => ({ body: { code } }))
    assert.strictEqual((yield* page.request("POST", "/auth/two-factor/verify-totp", yield* right)).status, 200)

    const sql = yield* Sql
    let wrong = 0
    for (let address = 0; wrong < MAX_WRONG_CODES; address++) {
      const thief = browser(url, `10.77.0.${address}`)
      yield* thief.signIn(owner)
      // Starts a new rate window.
      yield* sql`DELETE FROM rate_windows WHERE bucket LIKE 'sign-in/code/%'`
      const attempt = yield* thief.request("POST", "/auth/two-factor/verify-totp", { body: { code: "000000" } })
      if (attempt.status === 401) wrong++
      assert.isBelow(address, 3 * MAX_WRONG_CODES, JSON.stringify(attempt.json))
    }
    const newBrowser = browser(url, "10.78.0.1")
    yield* newBrowser.signIn(owner)
    const refused = yield* newBrowser.request("POST", "/auth/two-factor/verify-totp", yield* right)
    assert.isAtLeast(refused.status, 400, JSON.stringify(refused.json))
    assert.strictEqual((yield* newBrowser.request("GET", "/v1/session")).status, 401)
  })
})
