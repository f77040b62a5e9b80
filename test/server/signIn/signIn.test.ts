import * as RateLimit from "@waybill/domain/account/RateLimit"
import { RequestLogWriter } from "@waybill/store/requests/RequestLogWriter"
import * as Users from "@waybill/store/users/Users"
import { Effect } from "effect"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import { TRIES_PER_MINUTE } from "../../../apps/server/src/signIn/Options.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { authenticator, browser, House, tokenOf } from "./house.ts"

const PASSWORD = "correct horse battery"

layer(House.layerOfOneMinute, { excludeTestServices: true, timeout: "90 seconds" })("signing in", (it) => {
  const owner = Effect.gen(function* () {
    const house = yield* House
    const page = browser(house.url)
    assert.strictEqual((yield* page.signIn(house.owner)).status, 200)
    return { house, page }
  })

  it.effect("signs in the first owner, whose session calls /v1 as that user", function* () {
    const { house, page } = yield* owner
    const { json } = yield* page.request("GET", "/v1/session")
    assert.deepInclude(json, { object: "session", role: "owner", scopes: ["admin"], operator: true })
    assert.strictEqual(json.actor.type, "user")
    const made = yield* page.request("POST", "/v1/api-keys", {
      body: { name: "From a page", scopes: ["email:send"] },
    })
    assert.deepStrictEqual([made.status, made.json.created_by], [201, json.actor.id])
    const audit = yield* page.request("GET", "/v1/audit?limit=1")
    assert.deepInclude(audit.json.data[0], { type: "api_key.created", actor: { type: "user", id: json.actor.id } })
    const sent = yield* page.request("POST", "/v1/email/send", {
      body: { from: "hello@acme.test", to: "ana@example.org", subject: "Hi", text: "Hi" },
    })
    const events = yield* page.request("GET", `/v1/email/logs/${sent.json.id}/events`)
    assert.deepInclude(events.json.data[0], { type: "email.queued", actor: { type: "user", id: json.actor.id } })
    assert.strictEqual((yield* page.request("GET", `/v1/email/logs/${sent.json.id}`)).json.api_key_id, null)
    assert.strictEqual(house.owner.email, "owner@acme.test")
  })

  it.effect("keeps the newest sessions of a user only, however often they sign in", function* () {
    const { page } = yield* owner
    const sql = yield* HomeSql
    const { json } = yield* page.request("GET", "/v1/session")
    const user_id = json.actor.id as string
    yield* Effect.orDie(sql`
      INSERT INTO user_sessions (id, user_id, token, expires_at, created_at, updated_at)
      SELECT 'old' || n, ${user_id}, 'old' || n, now() + interval '1 day', now() - interval '1 hour', now() - interval '1 hour'
      FROM generate_series(1, ${Users.MAX_SESSIONS + 20}::int) AS n`)
    const again = yield* owner
    const [counted] = yield* Effect.orDie(sql<{ readonly n: number }>`
      SELECT count(*)::int AS n FROM user_sessions WHERE user_id = ${user_id}`)
    assert.strictEqual(counted?.n, Users.MAX_SESSIONS)
    for (const each of [page, again.page]) assert.strictEqual((yield* each.request("GET", "/v1/session")).status, 200)
    yield* Effect.orDie(sql`DELETE FROM user_sessions WHERE starts_with(id, 'old')`)
  })

  it.effect("logs what it changes as the user's call, for test mail apart, and not what it reads", function* () {
    const { page } = yield* owner
    const { json } = yield* page.request("GET", "/v1/session")
    const body = { from: "hello@acme.test", to: "ana@example.org", subject: "Hi", text: "Hi" }
    yield* page.request("POST", "/v1/email/send?livemode=false", { body })
    yield* page.request("POST", "/v1/suppressions", { body: { email: "bo@example.org" } })
    yield* (yield* RequestLogWriter)?.flush ?? Effect.void
    const newest = (query: string) =>
      Effect.map(page.request("GET", `/v1/requests?limit=1${query}`), ({ json: { data } }) => data[0])
    const own = { user_id: json.actor.id, api_key_id: null }
    assert.deepInclude(yield* newest("&livemode=false"), { path: "/v1/email/send", livemode: false, ...own })
    assert.deepInclude(yield* newest(""), { path: "/v1/suppressions", livemode: true, ...own })
  })

  it.effect("keeps its cookie from scripts and from other sites", function* () {
    const { house, page } = yield* owner
    const cookie = (yield* page.signIn(house.owner)).headers
      .getSetCookie()
      .find((line) => line.startsWith("waybill.session_token="))
    for (const word of ["HttpOnly", "SameSite=Strict", "Path=/"]) assert.include(cookie, word)
    const bare = yield* page.request("GET", "/v1/account", { headers: { "x-waybill-dashboard": "" } })
    assert.strictEqual(bare.status, 200)
    const elsewhere = yield* Effect.promise(() =>
      fetch(`${house.url}/v1/account`, {
        headers: { cookie: `waybill.session_token=${page.jar.get("waybill.session_token")}` },
      }),
    )
    assert.strictEqual(elsewhere.status, 401)
    const forged = yield* browser(house.url).request("POST", "/auth/sign-in/email", {
      body: house.owner,
      headers: { origin: "https://evil.example", cookie: "waybill.session_token=x" },
    })
    assert.strictEqual(forged.status, 403)
    // The same without BASE_URL.
    assert.include(forged.json.error.message, `Sign in at ${house.url}`)
    assert.include(forged.json.error.message, "BASE_URL")
  })

  it.effect("has a rate limit that nobody reaches by reading, with its headers", function* () {
    const { page } = yield* owner
    const limitOf = (path: string) =>
      Effect.map(page.request("GET", path), ({ headers }) => Number(headers.get("x-ratelimit-limit")))
    const { logs, other } = RateLimit.SESSION_PER_MINUTE
    assert.deepStrictEqual([yield* limitOf("/v1/email/logs?limit=1"), yield* limitOf("/v1/account")], [logs, other])
    // Two screens a second for a minute, of at most ten requests each.
    assert.isAtLeast(other, 2 * 60 * 10)
  })

  // The first account, and the windows of its sessions, are in the first cell.
  it.effect("has at least the rate limit that an operator granted to its account", function* () {
    const { page } = yield* owner
    const sql = yield* HomeSql
    const limits = Effect.all(
      ["/v1/email/logs?limit=1", "/v1/account"].map((path) =>
        Effect.map(page.request("GET", path), ({ headers }) => Number(headers.get("x-ratelimit-limit"))),
      ),
    )
    const grant = (logs: number | null, other: number | null) =>
      sql`UPDATE accounts SET record = jsonb_set(record::jsonb, '{granted}', ${JSON.stringify({ send: null, logs, other, monthly_emails: null })}::text::jsonb)`
    yield* grant(100, 5_000)
    assert.deepStrictEqual(yield* limits, [RateLimit.SESSION_PER_MINUTE.logs, 5_000])
    yield* grant(null, null)
  })

  it.effect("is refused beyond its rate limit, until the window ends", function* () {
    const { page } = yield* owner
    const sql = yield* HomeSql
    const { id } = (yield* page.request("GET", "/v1/session")).json.actor
    // The window that these requests count in is that of the test.
    yield* page.request("GET", "/v1/account")
    yield* sql`UPDATE rate_windows SET count = 100000 WHERE bucket = ${`${id}/other`}`
    const { headers, json, status } = yield* page.request("GET", "/v1/account")
    yield* sql`DELETE FROM rate_windows WHERE bucket = ${`${id}/other`}`
    assert.deepStrictEqual([status, json.error.reason], [429, "request_rate"])
    assert.isNotNull(headers.get("retry-after"))
  })

  it.effect("ends with signing out, before the next request", function* () {
    const { page } = yield* owner
    const cookie = { headers: { cookie: `waybill.session_token=${page.jar.get("waybill.session_token")}` } }
    assert.strictEqual((yield* page.request("GET", "/v1/session", cookie)).status, 200)
    assert.strictEqual((yield* page.request("POST", "/auth/sign-out", { body: {} })).status, 200)
    assert.strictEqual((yield* page.request("GET", "/v1/session", cookie)).status, 401)
  })

  it.effect("refuses an invitation that has expired, until an owner makes another link", function* () {
    const { house, page } = yield* owner
    const sql = yield* HomeSql
    const invited = yield* page.request("POST", "/v1/members", { body: { email: "late@example.org", role: "viewer" } })
    const late = browser(house.url)
    const ownerOf = (token: string) => late.request("POST", "/auth/link-owner", { body: { token } })
    const set = (token: string) =>
      late.request("POST", "/auth/reset-password", { body: { token, newPassword: PASSWORD } })
    const token = tokenOf(invited.json.url)
    assert.deepStrictEqual((yield* ownerOf(token)).json, { email: "late@example.org" })
    // The response says when: the link ends then.
    const [link] = yield* sql<{ readonly distance: number }>`
      SELECT abs(extract(epoch FROM expires_at - ${invited.json.expires_at}::timestamptz))::float8 AS distance
      FROM user_verifications WHERE value = ${invited.json.member.id}`
    yield* sql`UPDATE user_verifications SET expires_at = now() WHERE value = ${invited.json.member.id}`
    assert.isBelow(link?.distance ?? Infinity, 60)
    for (const refused of [yield* ownerOf(token), yield* set(token)])
      assert.deepStrictEqual([refused.status, refused.json.error.reason], [400, "invalid_token"])
    assert.notStrictEqual((yield* late.signIn({ email: "late@example.org", password: PASSWORD })).status, 200)
    const again = yield* page.request("POST", `/v1/members/${invited.json.member.id}/link`)
    assert.strictEqual((yield* set(tokenOf(again.json.url))).status, 200)
    // The expired one was never used, and still does not work.
    assert.strictEqual((yield* ownerOf(token)).json.error.reason, "invalid_token")
    assert.strictEqual((yield* late.signIn({ email: "late@example.org", password: PASSWORD })).status, 200)
  })

  it.effect("lets an owner invite a member, who sets a password once and has the rights of the role", function* () {
    const { house, page } = yield* owner
    const invited = yield* page.request("POST", "/v1/members", {
      body: { email: "Bo@Example.org", name: "Bo", role: "viewer" },
    })
    assert.strictEqual(invited.status, 201)
    assert.deepInclude(invited.json.member, { email: "Bo@example.org", role: "viewer", status: "invited" })
    const again = yield* page.request("POST", "/v1/members", { body: { email: "bo@example.org", role: "owner" } })
    assert.deepStrictEqual([again.status, again.json.error.reason], [422, "already_member"])
    const bo = browser(house.url)
    const setting = { body: { token: tokenOf(invited.json.url), newPassword: PASSWORD } }
    const short = yield* bo.request("POST", "/auth/reset-password", {
      body: { ...setting.body, newPassword: "short" },
    })
    assert.strictEqual(short.status, 400)
    const ownerOfLink = bo.request("POST", "/auth/link-owner", { body: { token: setting.body.token } })
    assert.deepStrictEqual((yield* ownerOfLink).json, { email: "bo@example.org" })
    assert.strictEqual((yield* bo.request("POST", "/auth/reset-password", setting)).status, 200)
    assert.strictEqual((yield* bo.request("POST", "/auth/reset-password", setting)).json.error.reason, "used_token")
    const unknown = yield* bo.request("POST", "/auth/link-owner", { body: { token: "unknown" } })
    assert.strictEqual(unknown.json.error.reason, "invalid_token")
    const used = yield* ownerOfLink
    assert.deepStrictEqual([used.status, used.json.error.reason], [400, "used_token"])
    assert.strictEqual((yield* bo.signIn({ email: "bo@example.org", password: PASSWORD })).status, 200)
    assert.deepInclude((yield* bo.request("GET", "/v1/session")).json, { role: "viewer", operator: false })
    assert.strictEqual((yield* bo.request("GET", "/v1/email/logs?limit=1")).status, 200)
    for (const [method, path, body] of [
      ["GET", "/v1/members", undefined],
      ["POST", "/v1/api-keys", { name: "Mine", scopes: ["admin"] }],
      ["POST", "/v1/domains", { name: "bo.test" }],
    ] as const) {
      const refused = yield* bo.request(method, path, body === undefined ? {} : { body })
      assert.deepStrictEqual([refused.status, refused.json.error.reason], [403, "missing_scope"], path)
    }
    const id = invited.json.member.id
    const listed = yield* page.request("GET", "/v1/members")
    assert.deepInclude(
      listed.json.data.find((each: { id: string }) => each.id === id),
      { status: "active", two_factor: false },
    )
    assert.strictEqual(
      (yield* page.request("PATCH", `/v1/members/${id}`, { body: { role: "member" } })).json.role,
      "member",
    )
    assert.strictEqual((yield* bo.request("POST", "/v1/domains", { body: { name: "bo.test" } })).status, 201)
    assert.strictEqual((yield* page.request("DELETE", `/v1/members/${id}`)).status, 200)
    assert.strictEqual((yield* bo.request("GET", "/v1/session")).status, 401)
    assert.strictEqual((yield* bo.signIn({ email: "bo@example.org", password: PASSWORD })).status === 200, false)
    const history = (yield* page.request("GET", "/v1/audit?limit=20")).json.data
      .filter(({ stream }: { stream: string }) => stream === "team")
      .map(({ type }: { type: string }) => type)
      .slice(0, 4)
    assert.deepStrictEqual(history, ["member.removed", "member.role_changed", "member.joined", "member.invited"])
  })

  it.effect("creates an account together with its owner, or neither", function* () {
    const { page } = yield* owner
    const names = Effect.map(page.request("GET", "/v1/operate/accounts"), ({ json }) =>
      json.data.map(({ name }: { name: string }) => name),
    )
    const make = (name: string, email: string) =>
      page.request("POST", "/v1/operate/accounts", { body: { name, owner: email, plan: "free" } })
    const refused = yield* make("Orphans", "nobody")
    assert.strictEqual(refused.status, 400)
    const made = yield* make("Neighbours", "nell@example.org")
    assert.deepInclude(made.json.link.member, { email: "nell@example.org", role: "owner", status: "invited" })
    const all = yield* names
    assert.include(all, "Neighbours")
    assert.notInclude(all, "Orphans")
  })

  it.effect("refuses fields and parameters that the dashboard's own endpoints do not know", function* () {
    const { page } = yield* owner
    const account = { name: "N", owner: "nora@example.org", plan: "free" }
    const words = "The body has an unknown field"
    for (const [method, path, body, message] of [
      [
        "GET",
        "/v1/operate/accounts?page=2",
        undefined,
        "The query has an unknown parameter `page`; this endpoint takes none.",
      ],
      ["POST", "/v1/operate/accounts", { ...account, Plans: 1 }, `${words} \`Plans\`; did you mean \`plan\`?`],
      [
        "PATCH",
        `/v1/operate/accounts/acc_${"0".repeat(26)}`,
        { linksFollowed: true },
        `${words} \`linksFollowed\`; did you mean \`links_followed\`?`,
      ],
      [
        "POST",
        "/v1/operate/projections/stats/swap",
        { back: false, backward: 1 },
        `${words} \`backward\`; did you mean \`back\`?`,
      ],
      ["POST", "/v1/operate/projections/stats/verify", { all: true }, `${words} \`all\`; none is accepted here.`],
      ["POST", "/auth/update-user", { name: "N", image: "x" }, `${words} \`image\`; known are name.`],
      ["POST", "/auth/sign-out", { everywhere: true }, `${words} \`everywhere\`; none is accepted here.`],
      [
        "GET",
        "/auth/list-sessions?x=1",
        undefined,
        "The query has an unknown parameter `x`; this endpoint takes none.",
      ],
    ] as const) {
      const { json, status } = yield* page.request(method, path, body === undefined ? {} : { body })
      assert.deepStrictEqual([status, json.error?.reason, json.error?.message], [400, "unknown_field", message], path)
    }
  })

  it.effect("counts requests of a frame in its reader's rate limit, and refuses other sites", function* () {
    const { house, page } = yield* owner
    const sent = yield* page.request("POST", "/v1/email/send", {
      body: { from: "hello@acme.test", to: "ana@example.org", subject: "Hi", html: "<p>Framed</p>" },
    })
    const request = (path: string, headers: Record<string, string>) =>
      Effect.promise(() => fetch(house.url + path, { headers: { "x-forwarded-for": "203.0.113.77", ...headers } }))
    const cookie = `waybill.session_token=${page.jar.get("waybill.session_token")}`
    const frame = (site: string) =>
      request(`/preview/emails/${sent.json.id}`, { cookie, "sec-fetch-site": site, "sec-fetch-dest": "iframe" })
    const seen = yield* frame("same-origin")
    assert.include(yield* Effect.promise(() => seen.text()), "<p>Framed</p>")
    const stranger = yield* request("/v1/session", {})
    assert.deepStrictEqual([stranger.status, stranger.headers.get("x-ratelimit-remaining")], [401, "119"])
    assert.strictEqual((yield* frame("cross-site")).status, 404)
  })

  it.effect("keeps the last owner of an account", function* () {
    const { page } = yield* owner
    const { id } = (yield* page.request("GET", "/v1/session")).json.actor
    const less = yield* page.request("PATCH", `/v1/members/${id}`, { body: { role: "viewer" } })
    assert.deepStrictEqual([less.status, less.json.error.reason], [422, "last_owner"])
    const sql = yield* HomeSql
    // An operator cannot be removed, and an account has its first owner from the installation.
    yield* sql`UPDATE users SET operator = false WHERE id = ${id}`
    const gone = yield* page.request("DELETE", `/v1/members/${id}`)
    yield* sql`UPDATE users SET operator = true WHERE id = ${id}`
    assert.deepStrictEqual([gone.status, gone.json.error.reason], [422, "last_owner"])
  })

  it.effect("requires a second factor once it is set up, by an RFC 6238 code", function* () {
    const { house, page } = yield* owner
    const { password } = house.owner
    const { json } = yield* page.request("POST", "/auth/two-factor/enable", { body: { password } })
    assert.isAbove(json.backupCodes.length, 5)
    const next_code = authenticator(json.totpURI)
    const code = yield* next_code
    assert.strictEqual((yield* page.request("POST", "/auth/two-factor/verify-totp", { body: { code } })).status, 200)
    const next = browser(house.url)
    assert.deepInclude((yield* next.signIn(house.owner)).json, { twoFactorRedirect: true })
    assert.strictEqual((yield* next.request("GET", "/v1/session")).status, 401)
    assert.strictEqual(
      (yield* next.request("POST", "/auth/two-factor/verify-totp", { body: { code: "000000" } })).status,
      401,
    )
    const again = yield* next_code
    assert.strictEqual(
      (yield* next.request("POST", "/auth/two-factor/verify-totp", { body: { code: again } })).status,
      200,
    )
    assert.strictEqual((yield* next.request("GET", "/v1/session")).status, 200)
    assert.strictEqual((yield* next.request("POST", "/auth/two-factor/disable", { body: { password } })).status, 200)
  })

  it.effect("exposes only endpoints that are used: no sign-up, no password link by email", function* () {
    const { house } = yield* owner
    const stranger = browser(house.url)
    for (const [path, body] of [
      ["/auth/sign-up/email", { email: "eve@example.org", password: PASSWORD, name: "Eve" }],
      ["/auth/request-password-reset", { email: house.owner.email }],
      ["/auth/sign-in/social", { provider: "oidc" }],
      ["/auth/delete-user", {}],
    ] as const)
      assert.strictEqual((yield* stranger.request("POST", path, { body })).status, 404, path)
  })

  it.effect("refuses too many attempts, whatever the password", function* () {
    const { house } = yield* owner
    const guesser = browser(house.url)
    const guess = Effect.map(
      guesser.signIn({ email: house.owner.email, password: "not the password" }),
      ({ status }) => status,
    )
    const tries = yield* Effect.forEach(Array.from({ length: TRIES_PER_MINUTE + 2 }), () => guess)
    assert.deepStrictEqual(tries, [...Array<number>(TRIES_PER_MINUTE).fill(401), 429, 429])
  })

  it.effect("loads the session sixty times a minute, whatever else the pages request", function* () {
    const { page } = yield* owner
    const load = Effect.gen(function* () {
      yield* page.request("GET", "/v1/account")
      const current = yield* page.request("GET", "/auth/get-session")
      const session = yield* page.request("GET", "/v1/session")
      return [current.status, session.status, session.headers.get("x-ratelimit-limit")].join()
    })
    const loads = yield* Effect.all(
      Array.from({ length: 60 }, () => load),
      { concurrency: 8 },
    )
    assert.deepStrictEqual([...new Set(loads)], ["200,200,600"])
  })
})
