import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { afterAll } from "vitest"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Provider from "../../dashboard/support/provider.ts"
import { authenticator, browser, House, tokenOf } from "../../server/signIn/house.ts"
import { assert, layer } from "../../support/effectTest.ts"

const PASSWORD = "correct horse battery"
const RACERS = 4

const provider = await Provider.open({ sub: "0", email: "nobody@example.org", email_verified: true })
afterAll(provider.close)

const settings = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: "waybill", OIDC_CLIENT_SECRET: "between us" }

/** Signs in at the provider and follows the callback as a browser does; returns the final redirect. */
const signInAtProvider = Effect.fnUntraced(function* (url: string, person: Provider.Person) {
  const page = browser(url)
  const body = { provider: "oidc", callbackURL: "/emails", errorCallbackURL: "/sign-in" }
  const { json } = yield* page.request("POST", "/auth/sign-in/social", { body })
  provider.person = person
  const back = yield* Effect.promise(() => fetch(json.url, { redirect: "manual" }))
  const { pathname, search } = new URL(back.headers.get("location") ?? "")
  const seen = yield* page.request("GET", pathname + search)
  const target = new URL(seen.headers.get("location") ?? "", url)
  return { page, seen, to: target.pathname, search: target.searchParams }
})

const member = Effect.gen(function* () {
  const { owner, url } = yield* House
  const sql = yield* Sql
  yield* sql`DELETE FROM rate_windows WHERE starts_with(bucket, 'sign-in/')`
  const operator = browser(url)
  yield* operator.signIn(owner)
  const email = `pat-${randomBytes(4).toString("hex")}@example.org`
  const invited = yield* operator.request("POST", "/v1/members", { body: { email, role: "member" } })
  return { id: String(invited.json.member.id), link: String(invited.json.url), email, operator, url }
})

const person = (email: string, sub = randomBytes(6).toString("hex")) => ({ sub, email, email_verified: true })
const isSignedIn = (page: ReturnType<typeof browser>) =>
  Effect.map(page.request("GET", "/v1/session"), ({ status }) => status === 200)

layer(House.layerWith(settings), { excludeTestServices: true, timeout: "90 seconds" })("an identity provider", (it) => {
  // threat: identity-provider
  it.effect("a sign-in at the provider still requires the second factor", function* () {
    const { email, id, link, operator, url } = yield* member
    const identity = person(email)
    const first = yield* signInAtProvider(url, identity)
    assert.deepStrictEqual([first.to, yield* isSignedIn(first.page)], ["/emails", true])

    const token = { token: tokenOf(link), newPassword: PASSWORD }
    // The first sign-in invalidated the invitation's link, so an operator gives this user a password.
    assert.strictEqual((yield* browser(url).request("POST", "/auth/reset-password", { body: token })).status, 400)
    const reset = yield* operator.request("POST", `/v1/members/${id}/link`)
    const body = { token: tokenOf(reset.json.url), newPassword: PASSWORD }
    assert.strictEqual((yield* browser(url).request("POST", "/auth/reset-password", { body })).status, 200)
    const page = browser(url)
    yield* page.signIn({ email, password: PASSWORD })
    const { json } = yield* page.request("POST", "/auth/two-factor/enable", { body: { password: PASSWORD } })
    const code = authenticator(json.totpURI)
    yield* page.request("POST", "/auth/two-factor/verify-totp", { body: { code: yield* code } })

    const pendingSignIn = yield* signInAtProvider(url, identity)
    assert.deepStrictEqual([pendingSignIn.seen.status, pendingSignIn.to], [302, "/sign-in"])
    assert.deepStrictEqual(Object.fromEntries(pendingSignIn.search), { second: "true", next: "/emails" })
    assert.isFalse(yield* isSignedIn(pendingSignIn.page))
    const wrong = yield* pendingSignIn.page.request("POST", "/auth/two-factor/verify-totp", {
      body: { code: "000000" },
    })
    assert.strictEqual(wrong.status, 401)
    assert.isFalse(yield* isSignedIn(pendingSignIn.page))
    const right = yield* pendingSignIn.page.request("POST", "/auth/two-factor/verify-totp", {
      body: { code: yield* code },
    })
    assert.strictEqual(right.status, 200, JSON.stringify(right.json))
    assert.isTrue(yield* isSignedIn(pendingSignIn.page))
  })

  // threat: identity-provider
  it.effect("only the first subject is bound to a user, also when several race", function* () {
    const { email, url } = yield* member
    const first = person(email)
    assert.isTrue(yield* isSignedIn((yield* signInAtProvider(url, first)).page))
    const second = yield* signInAtProvider(url, person(email))
    assert.deepStrictEqual([second.to, second.search.get("error")], ["/sign-in", "unable_to_link_account"])
    assert.isFalse(yield* isSignedIn(second.page))
    // The provider's subject identifies the first user, even after the address changed at the provider.
    assert.isTrue(yield* isSignedIn((yield* signInAtProvider(url, person("moved@example.org", first.sub))).page))

    const other = yield* member
    const pages = Array.from({ length: RACERS }, () => browser(url))
    const callbacks = yield* Effect.forEach(pages, (page) =>
      Effect.gen(function* () {
        const body = { provider: "oidc", callbackURL: "/emails", errorCallbackURL: "/sign-in" }
        const { json } = yield* page.request("POST", "/auth/sign-in/social", { body })
        const back = yield* Effect.promise(() => fetch(json.url, { redirect: "manual" }))
        const { pathname, search } = new URL(back.headers.get("location") ?? "")
        return { page, path: pathname + search }
      }),
    )
    // The provider now reports another subject for each of them.
    provider.people = pages.map(() => person(other.email))
    const seen = yield* Effect.all(
      callbacks.map(({ page, path }) => page.request("GET", path)),
      { concurrency: "unbounded" },
    )
    provider.people = []
    assert.strictEqual(seen.filter(({ status }) => status >= 500).length, 0)
    const signedIn = yield* Effect.forEach(pages, isSignedIn)
    assert.strictEqual(signedIn.filter(Boolean).length, 1)
  })

  // threat: identity-provider
  it.effect("an invitation by another account does not redirect a sign-in to that account", function* () {
    const { email, id, operator, url } = yield* member
    const bound = person(email)
    yield* signInAtProvider(url, bound)
    const name = randomBytes(4).toString("hex")
    const account = { name: "Squatters", owner: `squatter-${name}@example.org`, plan: "free" }
    const { link } = (yield* operator.request("POST", "/v1/operate/accounts", { body: account })).json
    const squatter = browser(url)
    const body = { token: tokenOf(link.url), newPassword: PASSWORD }
    yield* squatter.request("POST", "/auth/reset-password", { body })
    yield* squatter.signIn({ email: account.owner, password: PASSWORD })
    const fresh = `fresh-${name}@example.org`
    for (const each of [email, fresh])
      yield* squatter.request("POST", "/v1/members", { body: { email: each, role: "owner" } })
    yield* operator.request("POST", "/v1/members", { body: { email: fresh, role: "member" } })
    // A bound user stays bound; a user without a binding is asked for a password.
    const { page } = yield* signInAtProvider(url, bound)
    assert.strictEqual((yield* page.request("GET", "/v1/session")).json.actor.id, id)
    const refused = yield* signInAtProvider(url, person(fresh))
    assert.strictEqual(refused.search.get("error"), "signup_disabled")
    assert.isFalse(yield* isSignedIn(refused.page))
  })

  // threat: identity-provider
  it.effect("an unverified address, an uninvited user or the state of another browser does not sign in", function* () {
    const { email, url } = yield* member
    const unverified = yield* signInAtProvider(url, { ...person(email), email_verified: false })
    assert.strictEqual(unverified.search.get("error"), "account_not_linked")
    const stranger = yield* signInAtProvider(url, person("stranger@example.org"))
    assert.strictEqual(stranger.search.get("error"), "signup_disabled")
    // The sign-in library's internal user names are not addresses, so they match no one.
    const { id } = yield* member
    const internalName = yield* signInAtProvider(url, person(`${id}@user.invalid`))
    assert.strictEqual(internalName.search.get("error"), "signup_disabled")

    const body = { provider: "oidc", callbackURL: "/emails", errorCallbackURL: "/sign-in" }
    const attacker = browser(url)
    const { json } = yield* attacker.request("POST", "/auth/sign-in/social", { body })
    provider.person = person(email)
    const back = yield* Effect.promise(() => fetch(json.url, { redirect: "manual" }))
    const { pathname, search } = new URL(back.headers.get("location") ?? "")
    const victim = browser(url)
    const seen = yield* victim.request("GET", pathname + search)
    assert.strictEqual(seen.status, 302)
    assert.strictEqual(new URL(seen.headers.get("location") ?? "", url).pathname, "/sign-in")
    assert.isFalse(yield* isSignedIn(victim))
    const forgedError = yield* victim.request(
      "GET",
      "/auth/callback/oidc?error=x&error_description=%3Cscript%3E&extra=1",
    )
    assert.deepStrictEqual([forgedError.status, forgedError.headers.get("location")?.split("?")[0]], [302, "/sign-in"])
    assert.notInclude(forgedError.headers.get("location"), "script")
  })
})
