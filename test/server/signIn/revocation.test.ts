import type { PgClient } from "@effect/sql-pg"
import * as Users from "@waybill/store/users/Users"
import { Clock, Effect, Redacted } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import { HomeSql } from "@waybill/store/routing/HomeSql"
import { asService } from "../../support/cells/testCell.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import { browser, House, tokenOf } from "./house.ts"
import { underWay, type Credential } from "./underWay.ts"

/** One second by the contract, and half a second more on a busy machine. */
const WITHIN_MS = 1_500
const PASSWORD = "correct horse battery staple"

type Browser = ReturnType<typeof browser>

interface Case {
  /** Whose work is under way. */
  readonly credential: Credential
  /** Ends the credential on the first node. */
  readonly end: Effect.Effect<unknown, unknown, PgClient.PgClient>
  readonly refusal: readonly [status: number, message: RegExp]
  /** Work that goes on. */
  readonly keeps?: ReadonlyArray<string>
}

const setUp = Effect.gen(function* () {
  const house = yield* House
  const owner = browser(house.url)
  yield* owner.signIn(house.owner)
  return { ...house, browser: owner }
})

const keyed = (end: (owner: Browser, id: string) => Case["end"], refusal: RegExp) =>
  Effect.gen(function* () {
    const { browser: owner } = yield* setUp
    const made = yield* owner.request("POST", "/v1/api-keys", { body: { name: "one", scopes: ["admin"] } })
    assert.strictEqual(made.status, 201, JSON.stringify(made.json))
    const { id, key } = made.json as { readonly id: string; readonly key: string }
    return {
      credential: { headers: { authorization: `Bearer ${key}` }, key },
      end: end(owner, id),
      refusal: [401, refusal],
    } satisfies Case
  })

let members = 0

/** Work of an invited owner in a session, which `end` ends. */
const signedIn = (
  end: (parties: {
    readonly owner: Browser
    readonly member: Browser
    readonly id: string
    readonly email: string
  }) => Case["end"],
  more: Partial<Case> = {},
) =>
  Effect.gen(function* () {
    const { browser: owner, url } = yield* setUp
    const email = `member${members++}@acme.test`
    const made = yield* owner.request("POST", "/v1/members", { body: { email, role: "owner" } })
    assert.strictEqual(made.status, 201, JSON.stringify(made.json))
    const member = browser(url)
    const token = tokenOf(made.json.url)
    yield* member.request("POST", "/auth/reset-password", { body: { newPassword: PASSWORD, token } })
    yield* member.signIn({ email, password: PASSWORD })
    const cookie = [...member.jar].map(([name, value]) => `${name}=${value}`).join("; ")
    return {
      credential: { headers: { cookie, "x-waybill-dashboard": "1" } },
      end: end({ owner, member, id: made.json.member.id as string, email }),
      refusal: [401, /./u],
      ...more,
    } satisfies Case
  })

// threat: revoked-access
const CASES: Readonly<Record<string, Effect.Effect<Case, unknown, House | PgClient.PgClient>>> = {
  "a key that is revoked": keyed(
    (owner, id) => owner.request("DELETE", `/v1/api-keys/${id}`),
    /^This API key has been revoked\.$/u,
  ),
  "a key that expires": keyed(
    (_, id) =>
      Effect.gen(function* () {
        const sql = yield* Sql
        // A key cannot be created with an expiry in the past, so it is changed in the table. The first account has it.
        yield* asService(Effect.orDie(sql`UPDATE api_keys SET expires_at = now() WHERE id = ${id}`))
      }),
    /^This API key has expired\.$/u,
  ),
  "a session that is signed out": signedIn(({ member }) => member.request("POST", "/auth/sign-out", { body: {} })),
  "a session that another session ends": Effect.gen(function* () {
    const { url } = yield* House
    return yield* signedIn(({ email, member }) =>
      Effect.gen(function* () {
        const { json } = yield* member.request("GET", "/auth/list-sessions")
        const [{ token }] = JSON.parse(json as string) as [{ readonly token: string }]
        const other = browser(url)
        yield* other.signIn({ email, password: PASSWORD })
        const ended = yield* other.request("POST", "/auth/revoke-session", { body: { token } })
        assert.strictEqual(ended.status, 200)
      }),
    )
  }),
  "a session of a member who changes the password elsewhere": Effect.gen(function* () {
    const { url } = yield* House
    return yield* signedIn(({ email }) =>
      Effect.gen(function* () {
        const other = browser(url)
        yield* other.signIn({ email, password: PASSWORD })
        const body = { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` }
        assert.strictEqual((yield* other.request("POST", "/auth/change-password", { body })).status, 200)
      }),
    )
  }),
  "a session of a member whose password an operator sets": signedIn(({ id }) =>
    Users.setPassword(id, Redacted.make(`${PASSWORD} 3`)),
  ),
  "a session that expires": signedIn(({ id }) =>
    Effect.gen(function* () {
      const sql = yield* HomeSql
      yield* Effect.orDie(sql`UPDATE user_sessions SET expires_at = now() WHERE user_id = ${id}`)
    }),
  ),
  "a session of a member whose role is lowered": signedIn(
    ({ id, owner }) => owner.request("PATCH", `/v1/members/${id}`, { body: { role: "viewer" } }),
    // A viewer may read mail.
    { refusal: [403, /scope/u], keeps: ["wait for captured mail"] },
  ),
  "a session of an operator who is one no longer": Effect.gen(function* () {
    const operators: Array<string> = []
    const session = yield* signedIn(({ id }) => {
      operators.push(id)
      return Users.setOperator(id, false)
    })
    for (const id of operators) yield* Users.setOperator(id, true)
    return session
  }),
  "a session of a member who is removed": signedIn(({ id, owner }) => owner.request("DELETE", `/v1/members/${id}`)),
}

layer(House.layer, { excludeTestServices: true, timeout: "90 seconds" })("work under way on another node", (it) => {
  for (const [name, begin] of Object.entries(CASES)) {
    it.effect(`of ${name} ends within a second or is refused`, function* () {
      const { another, key } = yield* House
      const node = yield* another
      const { credential, end, keeps = [], refusal } = yield* begin
      const works = yield* underWay(node, credential)
      const unaffected = yield* underWay(node, { headers: { authorization: `Bearer ${key}` } })
      yield* Effect.sleep("500 millis")
      assert.deepStrictEqual(
        works.waiting.flatMap((work) => (work.outcome() === undefined ? [] : [work.name])),
        [],
      )
      yield* end
      const began = yield* Clock.currentTimeMillis
      const ending = works.waiting.filter((work) => !keeps.includes(work.name))
      yield* World.until(
        Effect.sync(() => ending.every((work) => work.outcome() !== undefined)),
        (all) => all,
      )
      assert.isBelow((yield* Clock.currentTimeMillis) - began, WITHIN_MS)
      const [status, message] = refusal
      for (const work of ending.filter((each) => each.name !== "event stream")) {
        const outcome = work.outcome()
        assert.strictEqual(outcome?.status, status, work.name)
        assert.match(outcome?.message ?? "", message, work.name)
      }
      // The bodies have taken more than a second by now.
      yield* Effect.sleep("800 millis")
      for (const work of works.arriving) {
        const outcome = yield* work.finish
        assert.strictEqual(outcome.status, status, work.name)
        assert.match(outcome.message, message, work.name)
      }
      for (const still of [...unaffected.waiting, ...works.waiting.filter((work) => keeps.includes(work.name))])
        assert.isUndefined(still.outcome(), still.name)
      for (const work of unaffected.arriving) assert.isBelow((yield* work.finish).status, 300, work.name)
    })
  }
})
