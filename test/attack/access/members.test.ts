import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "@waybill/store/postgres/Sql"
import { browser, House, type Seen, tokenOf } from "../../server/signIn/house.ts"
import { assert, layer } from "../../support/effectTest.ts"

const PASSWORD = "correct horse battery"
const OTHER_PASSWORD = "another battery staple"
const RACERS = 8

const reasonOf = ({ json, status }: Seen) => [status, json.error?.reason]

/** Returns an account with its owner, the admin key of the first account, and an operator. */
const setUp = Effect.gen(function* () {
  const { key, owner, url } = yield* House
  const name = randomBytes(4).toString("hex")
  const operator = browser(url)
  yield* operator.signIn(owner)
  const byKey = (method: string, path: string, body?: unknown, as = key) =>
    browser(url).request(method, path, { body, headers: { authorization: `Bearer ${as}` } })
  const setPassword = (link: string, newPassword = PASSWORD) =>
    browser(url).request("POST", "/auth/reset-password", { body: { token: tokenOf(link), newPassword } })
  const signedIn = Effect.fnUntraced(function* (email: string, password = PASSWORD) {
    const page = browser(url)
    const { status } = yield* page.signIn({ email, password })
    return { page, status }
  })
  const beaAddress = `bea-${name}@example.org`
  const account = { name: "B", owner: beaAddress, plan: "free" }
  const { link } = (yield* operator.request("POST", "/v1/operate/accounts", { body: account })).json
  yield* setPassword(link.url)
  const { page: bea } = yield* signedIn(beaAddress)
  return { url, name, operator, byKey, setPassword, signedIn, bea, beaAddress }
})

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("a team", (it) => {
  // threat: member-takeover
  it.effect("a key can neither create, change, remove nor impersonate an owner", function* () {
    const { byKey, name, operator, setPassword, signedIn } = yield* setUp
    const memberWithRole = (email: string, role: string) => ({ email: `${email}-${name}@example.org`, role })
    // The reported attack: a key invites an owner and opens the link itself.
    assert.deepStrictEqual(reasonOf(yield* byKey("POST", "/v1/members", memberWithRole("eve", "owner"))), [
      422,
      "owners_need_session",
    ])
    // The key cannot promote a member that it created, either.
    const mallory = yield* byKey("POST", "/v1/members", memberWithRole("mallory", "member"))
    const path = `/v1/members/${mallory.json.member.id}`
    assert.deepStrictEqual(reasonOf(yield* byKey("PATCH", path, { role: "owner" })), [422, "owners_need_session"])
    yield* setPassword(mallory.json.url)
    const { page } = yield* signedIn(`mallory-${name}@example.org`)
    assert.strictEqual((yield* page.request("GET", "/v1/members")).status, 403)

    // Covers an owner who has not joined yet and one who has.
    const olga = yield* operator.request("POST", "/v1/members", { body: memberWithRole("olga", "owner") })
    const olgaPath = `/v1/members/${olga.json.member.id}`
    for (const refused of [
      yield* byKey("POST", `${olgaPath}/link`),
      yield* byKey("PATCH", olgaPath, { role: "viewer" }),
      yield* byKey("DELETE", olgaPath),
    ])
      assert.deepStrictEqual(reasonOf(refused), [422, "owners_need_session"])
    yield* setPassword(olga.json.url)
    yield* signedIn(`olga-${name}@example.org`)
    assert.deepStrictEqual(reasonOf(yield* byKey("POST", `${olgaPath}/link`)), [422, "member_has_joined"])
  })

  // threat: member-takeover
  it.effect("an owner cannot create a link for a member who has signed in, even after changing the role", function* () {
    const { name, operator, setPassword, signedIn } = yield* setUp
    const ownerInvitation = (email: string) => ({ body: { email: `${email}-${name}@example.org`, role: "owner" } })
    const [eve, olga] = yield* Effect.all([
      operator.request("POST", "/v1/members", ownerInvitation("eve")),
      operator.request("POST", "/v1/members", ownerInvitation("olga")),
    ])
    yield* setPassword(eve.json.url)
    yield* setPassword(olga.json.url)
    const { page } = yield* signedIn(`eve-${name}@example.org`)
    yield* signedIn(`olga-${name}@example.org`)
    const path = `/v1/members/${olga.json.member.id}`
    for (const role of ["owner", "viewer"]) {
      yield* page.request("PATCH", path, { body: { role } })
      assert.deepStrictEqual(reasonOf(yield* page.request("POST", `${path}/link`)), [422, "member_has_joined"], role)
    }
    // A member who is removed and invited again gets a new id, with a separate history.
    assert.strictEqual((yield* page.request("DELETE", path)).status, 200)
    const reinvited = yield* page.request("POST", "/v1/members", ownerInvitation("olga"))
    assert.notStrictEqual(reinvited.json.member.id, olga.json.member.id)
    assert.strictEqual((yield* operator.request("POST", `/v1/members/${eve.json.member.id}/link`)).status, 200)
  })

  // threat: member-takeover
  it.effect("a link is invalid once the member has joined or has another role", function* () {
    const { byKey, name, operator, setPassword, signedIn } = yield* setUp
    const email = `vic-${name}@example.org`
    const invited = yield* byKey("POST", "/v1/members", { email, role: "viewer" })
    const path = `/v1/members/${invited.json.member.id}`
    yield* setPassword(invited.json.url)
    // The password is set but nobody has signed in, so the key may still make a link.
    const spareLink = yield* byKey("POST", `${path}/link`)
    yield* signedIn(email)
    assert.strictEqual((yield* setPassword(spareLink.json.url, OTHER_PASSWORD)).status, 400)

    const wanda = yield* byKey("POST", "/v1/members", { email: `wanda-${name}@example.org`, role: "viewer" })
    yield* operator.request("PATCH", `/v1/members/${wanda.json.member.id}`, { body: { role: "owner" } })
    assert.strictEqual((yield* setPassword(wanda.json.url)).status, 400)
  })

  // threat: key-limits
  it.effect("a key with limits cannot manage members, because a sign-in would not have these limits", function* () {
    const { byKey, name } = yield* setUp
    const limited = [
      { allowed_ips: ["0.0.0.0/0", "::/0"] },
      { expires_at: "2199-01-01T00:00:00.000Z" },
      { domain: "acme.test" },
    ]
    for (const limits of limited) {
      const created = yield* byKey("POST", "/v1/api-keys", { name: "Limited", scopes: ["admin"], ...limits })
      // A refusal to create a bound key with this scope is as good.
      if (created.status !== 201) continue
      const body = { email: `kim-${name}@example.org`, role: "viewer" }
      const refused = yield* byKey("POST", "/v1/members", body, created.json.key)
      assert.isTrue([403, 422].includes(refused.status), JSON.stringify([limits, refused.json]))
    }
  })

  // threat: changed-account
  it.effect(
    "an invitation gets the same answer and reserves no address, whether or not another account knows the address",
    function* () {
      const { bea, beaAddress, byKey, name, operator, setPassword, signedIn } = yield* setUp
      const invite = (email: string) => byKey("POST", "/v1/members", { email, role: "member" })
      const unknownAddress = yield* invite(`new-${name}@example.org`)
      const knownAddress = yield* invite(beaAddress)
      const shape = ({ json, status }: Seen) => [
        status,
        Object.keys(json),
        Object.keys(json.member),
        json.member.status,
      ]
      assert.deepStrictEqual(shape(knownAddress), shape(unknownAddress))

      // The inviter opens the link. The result is a separate sign-in to the inviter's account; the other account keeps
      // its own.
      assert.strictEqual((yield* setPassword(knownAddress.json.url, OTHER_PASSWORD)).status, 200)
      const squatter = yield* signedIn(beaAddress, OTHER_PASSWORD)
      const first = yield* signedIn(beaAddress)
      assert.deepStrictEqual([squatter.status, first.status], [200, 200])
      const accountOf = (page: typeof bea) =>
        Effect.map(page.request("GET", "/v1/session"), ({ json }) => [json.account_id, json.actor.id])
      const [theirs, ours] = [yield* accountOf(bea), yield* accountOf(operator)]
      assert.deepStrictEqual(yield* accountOf(first.page), theirs)
      assert.deepStrictEqual(yield* accountOf(squatter.page), [ours[0], knownAddress.json.member.id])
      assert.strictEqual((yield* bea.request("GET", "/v1/session")).status, 200)

      // Another account may still invite the squatted address, and removing the squatter ends no session of that
      // account.
      const invitedEmail = `early-${name}@example.org`
      yield* invite(invitedEmail)
      const secondInvitation = yield* bea.request("POST", "/v1/members", {
        body: { email: invitedEmail, role: "owner" },
      })
      assert.strictEqual(secondInvitation.status, 201)
      yield* byKey("DELETE", `/v1/members/${knownAddress.json.member.id}`)
      assert.strictEqual((yield* signedIn(beaAddress)).status, 200)
      assert.strictEqual((yield* signedIn(beaAddress, OTHER_PASSWORD)).status, 401)
    },
  )

  // threat: changed-account
  it.effect("of concurrent invitations one per account succeeds, and the others leave no user behind", function* () {
    const { bea, byKey, name } = yield* setUp
    const body = { email: `race-${name}@example.org`, role: "member" }
    const racing = yield* Effect.all(
      Array.from({ length: RACERS }, (_, nth) =>
        nth % 2 === 0 ? byKey("POST", "/v1/members", body) : bea.request("POST", "/v1/members", { body }),
      ),
      { concurrency: "unbounded" },
    )
    const answers = racing.map((seen) => JSON.stringify(reasonOf(seen))).toSorted()
    const expected = [
      ...Array.from({ length: 2 }, () => JSON.stringify([201, undefined])),
      ...Array.from({ length: RACERS - 2 }, () => JSON.stringify([422, "already_member"])),
    ]
    assert.deepStrictEqual(answers, expected)
    const sql = yield* Sql
    assert.strictEqual((yield* sql`SELECT id FROM users WHERE email = ${body.email}`).length, 2)
  })

  // threat: operator-takeover
  it.effect("only operators change the role of an operator, and nobody gets a link for themselves", function* () {
    const { byKey, name, operator, setPassword, signedIn } = yield* setUp
    const { id } = (yield* operator.request("GET", "/v1/session")).json.actor
    const eve = { email: `eve-${name}@example.org`, role: "owner" }
    const invited = yield* operator.request("POST", "/v1/members", { body: eve })
    yield* setPassword(invited.json.url)
    const { page } = yield* signedIn(eve.email)
    for (const refused of [
      yield* page.request("PATCH", `/v1/members/${id}`, { body: { role: "viewer" } }),
      yield* byKey("PATCH", `/v1/members/${id}`, { role: "viewer" }),
    ])
      assert.deepStrictEqual(reasonOf(refused), [422, "member_is_operator"])
    assert.strictEqual((yield* operator.request("GET", "/v1/session")).json.role, "owner")
    // A link would turn a stolen session into the password, for an operator too.
    assert.deepStrictEqual(reasonOf(yield* operator.request("POST", `/v1/members/${id}/link`)), [
      422,
      "member_has_joined",
    ])
    const changed = yield* operator.request("PATCH", `/v1/members/${id}`, { body: { role: "viewer" } })
    assert.strictEqual(changed.json.role, "viewer")
  })
})
