import * as CellSchema from "@waybill/store/cells/CellSchema"
import { Effect } from "effect"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { lockTables } from "../cells/support.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { authenticator, browser, House, tokenOf } from "./house.ts"

/** Runs the command line on the database of the service. */
const waybill = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { code, output } = yield* CommandLine.toEnd(...args)
  assert.strictEqual(code, 0, output)
  return output
})

/** A link to set a password, with a token that the test knows; the service shows it to nobody again. */
const linkOf = Effect.fnUntraced(function* (url: string, id: string, token: string) {
  const sql = yield* HomeSql
  yield* sql`INSERT INTO user_verifications (id, identifier, value, expires_at, created_at, updated_at)
    VALUES (${token}, ${`reset-password:${token}`}, ${id}, now() + interval '1 day', now(), now())`
  return `${url}/welcome#${token}`
})

/** Links created before are invalid after an operator's change. */
const opened = (url: string, link: string) =>
  browser(url).request("POST", "/auth/reset-password", {
    body: { token: tokenOf(link), newPassword: "correct horse battery" },
  })

// Its environment names no roles, as with `start --roles api`.
layer(House.layerWith({ ROLES: "api" }), { excludeTestServices: true, timeout: "90 seconds" })("a process", (it) => {
  it.effect("shows its operators its settings, with the roles that a flag gave it", function* () {
    const { owner, url } = yield* House
    const page = browser(url)
    assert.strictEqual((yield* page.request("GET", "/v1/operate/settings")).status, 401)
    yield* page.signIn(owner)
    const { data, groups } = (yield* page.request("GET", "/v1/operate/settings")).json
    const named = (name: string) => data.find((each: { readonly name: string }) => each.name === name)
    assert.deepInclude(named("ROLES"), { value: "api", default: "api,worker,smtp" })
    assert.deepInclude(named("MAX_BODY_BYTES"), { value: null, default: "10485760" })
    assert.strictEqual(groups.flatMap(([, names]: [string, ReadonlyArray<string>]) => names).length, data.length)
  })
})

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("the accounts of an instance", (it) => {
  it.effect("are listed beside a cell that does not answer, with its name", function* () {
    const { owner, url } = yield* House
    const page = browser(url)
    yield* page.signIn(owner)
    const listed = Effect.map(page.request("GET", "/v1/operate/accounts"), ({ json }) => json)
    const before = yield* listed
    assert.deepStrictEqual([before.data.length, before.unreachable], [1, []])
    yield* CellSchema.make("cell_b")
    yield* lockTables("cell_b", "accounts")
    const beside = yield* World.until(listed, ({ unreachable }) => unreachable.length > 0)
    assert.deepStrictEqual(beside, { data: before.data, unreachable: ["cell_b"] })
    const named = yield* CommandLine.toEnd("keys", "list")
    assert.strictEqual(named.code, 1, named.output)
    assert.include(named.output, "Name the account with --account. The cell cell_b does not answer")
  })
})

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("a user who lost a second factor", (it) => {
  it.effect(
    "signs in with the password only after an operator has removed it, which the audit log records",
    function* () {
      const { key, owner, url } = yield* House
      const { email, password } = owner
      const setUp = Effect.fnUntraced(function* (page: ReturnType<typeof browser>) {
        const { json } = yield* page.request("POST", "/auth/two-factor/enable", { body: { password } })
        const next = authenticator(json.totpURI)
        const verified = yield* page.request("POST", "/auth/two-factor/verify-totp", { body: { code: yield* next } })
        assert.strictEqual(verified.status, 200)
        return next
      })
      const page = browser(url)
      yield* page.signIn(owner)
      const next_code = yield* setUp(page)
      const { id } = (yield* page.request("GET", "/v1/session")).json.actor
      // A passkey that no browser can use, which is enough to be removed.
      const sql = yield* HomeSql
      yield* sql`INSERT INTO user_passkeys
        (id, user_id, name, public_key, credential_id, counter, device_type, backed_up, created_at)
        VALUES ('lost', ${id}, 'Lost phone', 'key', 'credential', 0, 'singleDevice', false, now())`
      const trusted = browser(url)
      assert.deepInclude((yield* trusted.signIn(owner)).json, { twoFactorRedirect: true })
      const trusting = { body: { code: yield* next_code, trustDevice: true } }
      assert.strictEqual((yield* trusted.request("POST", "/auth/two-factor/verify-totp", trusting)).status, 200)
      yield* trusted.request("POST", "/auth/sign-out", { body: {} })
      assert.notProperty((yield* trusted.signIn(owner)).json, "twoFactorRedirect")

      const link = yield* linkOf(url, id, "before-factors")
      const said = yield* waybill("users", "reset-factors", email.toUpperCase(), "--json")
      assert.strictEqual((yield* opened(url, link)).status, 400)
      assert.deepStrictEqual(JSON.parse(said), { id, email, authenticator: true, passkeys: 1, provider: false })

      for (const signedIn of [page, trusted])
        assert.strictEqual((yield* signedIn.request("GET", "/v1/session")).status, 401)
      const next = browser(url)
      assert.notProperty((yield* next.signIn(owner)).json, "twoFactorRedirect")
      assert.strictEqual((yield* next.request("GET", "/v1/session")).status, 200)
      assert.deepStrictEqual(JSON.parse((yield* next.request("GET", "/auth/passkey/list-user-passkeys")).json), [])

      const audit = yield* next.request("GET", "/v1/audit?limit=1", { headers: { authorization: `Bearer ${key}` } })
      assert.deepInclude(audit.json.data[0], { type: "member.factors_removed", stream: "team" })
      assert.strictEqual(audit.json.data[0].actor.type, "operator")

      // A browser that was trusted to skip the lost factor does not skip the next one.
      yield* setUp(next)
      assert.deepInclude((yield* trusted.signIn(owner)).json, { twoFactorRedirect: true })
      yield* waybill("users", "reset-factors", id)
    },
  )

  it.effect("has nothing removed or recorded if there is no second factor", function* () {
    const { key, owner, url } = yield* House
    const newest = Effect.map(
      browser(url).request("GET", "/v1/audit?limit=1", { headers: { authorization: `Bearer ${key}` } }),
      ({ json }) => json.data[0].id,
    )
    const before = yield* newest
    const page = browser(url)
    yield* page.signIn(owner)
    assert.include(yield* waybill("users", "reset-factors", owner.email), "Nothing to remove")
    assert.strictEqual(yield* newest, before)
    assert.strictEqual((yield* page.request("GET", "/v1/session")).status, 200)
  })

  it.effect("gets a new password, with the operator's name in the audit log", function* () {
    const { key, owner, url } = yield* House
    const lost = browser(url)
    yield* lost.signIn(owner)
    const { id } = (yield* lost.request("GET", "/v1/session")).json.actor
    const link = yield* linkOf(url, id, "before-password")
    const { password } = JSON.parse(yield* waybill("users", "password", owner.email, "--json"))
    assert.strictEqual((yield* opened(url, link)).status, 400)
    assert.strictEqual((yield* browser(url).signIn(owner)).status, 401)
    const page = browser(url)
    assert.strictEqual((yield* page.signIn({ email: owner.email, password })).status, 200)
    const audit = yield* page.request("GET", "/v1/audit?limit=1", { headers: { authorization: `Bearer ${key}` } })
    assert.deepInclude(audit.json.data[0], { type: "member.password_set", stream: "team" })
    assert.strictEqual(audit.json.data[0].actor.type, "operator")
    assert.notInclude(JSON.stringify(audit.json), password)
    const stranger = yield* CommandLine.toEnd("users", "reset-factors", "nobody@example.org")
    assert.strictEqual(stranger.code, 1)
    assert.include(stranger.output, "There is no user nobody@example.org")
  })
})
