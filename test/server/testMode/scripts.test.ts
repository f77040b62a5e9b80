import * as Uuid from "@waybill/domain/values/Uuid"
import * as Livemode from "@waybill/domain/account/Livemode"
import type { EmailId } from "@waybill/domain/values/Id"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import * as Transports from "../../../apps/server/src/worker/delivery/Transports.ts"
import * as Worker from "../../../apps/server/src/boot/service/Worker.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { type Answer, HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "../smtp/support.ts"

const EMAIL = { from: "Shop <hi@shop.example>", to: "ana@example.org", subject: "Your receipt", text: "Thank you." }
const scripted = (script: string, change: object = {}) => ({
  ...EMAIL,
  headers: { "X-Waybill-Script": script, "X-Order": "7041" },
  ...change,
})

interface Event {
  readonly type: string
  readonly data: {
    readonly code: number | null
    readonly enhanced_code: string | null
    readonly script?: string
    readonly simulated?: boolean
    readonly would_suppress?: string
  }
}

/** A customer in test mode, whose worker retries after a moment and has no transport for live mail. */
const customer = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  yield* Layer.build(
    Worker.layer({ url, delivery: { returnPath: World.RETURN_PATH, nextAttempt: World.retrySoon } }).pipe(
      Layer.provide([Transports.Transports.layer<never, never>("relay", {}), World.delivering]),
    ),
  )
  const owner = yield* signUp()
  const key = yield* owner.keyWith({ mode: "test", scopes: ["email:send", "email:logs:read"] })
  const callTest = (method: string, path: string, body?: unknown) => owner.world.request(method, path, { key, body })
  const account_id = Livemode.testAccountOf(owner.account)
  const settled = (id: string) => World.settled({ account_id, stream_id: id as EmailId })
  /** Names of the events of a message, with the codes of its replies. */
  const story = Effect.fnUntraced(function* (id: string) {
    yield* settled(id)
    const { json } = yield* callTest("GET", `/v1/email/logs/${id}/events`)
    return (json.data as ReadonlyArray<Event>).map(({ data, type }) =>
      [type.replace("email.", ""), data.code, data.enhanced_code]
        .filter((each) => each !== undefined && each !== null)
        .join(" "),
    )
  })
  const simulations = (id: string) =>
    Effect.map(callTest("GET", `/v1/email/logs/${id}/events`), ({ json }) =>
      (json.data as ReadonlyArray<Event>)
        .filter(({ type }) => type === "email.bounced")
        .map(({ data: { simulated, would_suppress } }) => ({ simulated, would_suppress })),
    )
  const accepted = ({ json, status, text }: Answer): string => {
    assert.strictEqual(status, 200, text)
    return json.id
  }
  return { ...owner, accepted, callTest, settled, simulations, story, test: key }
})

const suppressed = ({ json }: Answer) => json.data.map(({ email, reason }: Record<string, string>) => [email, reason])

layer(HttpWorld.layer({ transport: "relay" }), { excludeTestServices: true })("a script", (it) => {
  it.effect("decides about each attempt, whichever door the message came through", function* () {
    const { accepted, call, callTest, simulations, story, test, world } = yield* customer
    const id = accepted(yield* callTest("POST", "/v1/email/send", scripted("defer 451 4.7.1; defer; bounce 554 5.7.1")))
    assert.deepStrictEqual(yield* story(id), [
      "queued",
      "delivery_delayed 451 4.7.1",
      "delivery_delayed 451 4.3.0",
      "bounced 554 5.7.1",
    ])
    assert.deepStrictEqual(yield* simulations(id), [{ simulated: true, would_suppress: undefined }])
    const resent = accepted(yield* callTest("POST", `/v1/email/${id}/resend`))
    assert.deepStrictEqual(yield* story(resent), ["queued", "delivered 250 2.0.0"])

    const emails = [scripted("complain"), scripted("bounce+suppress", { to: "bo@example.org" }), scripted("defer 421")]
    const batch = yield* callTest("POST", "/v1/email/send/batch", { emails })
    const stories = yield* Effect.forEach(batch.json.data as ReadonlyArray<{ readonly id: string }>, (each) =>
      story(each.id),
    )
    assert.deepStrictEqual(stories, [
      ["queued", "delivered 250 2.0.0", "complained"],
      ["queued", "bounced 550 5.1.1"],
      ["queued", "delivery_delayed 421", "delivered 250 2.0.0"],
    ])
    assert.deepStrictEqual(suppressed(yield* callTest("GET", "/v1/suppressions")), [["bo@example.org", "hard_bounce"]])
    assert.deepStrictEqual(suppressed(yield* call("GET", "/v1/suppressions")), [])

    const port = yield* Smtp.submission()
    const reply = yield* Smtp.send(port, test, scripted("bounce 552 5.2.2", { from: "hi@shop.example" }))
    const [, submitted = ""] = /queued as (\S+)/u.exec(reply) ?? []
    assert.deepStrictEqual(yield* story(submitted), ["queued", "bounced 552 5.2.2"])
    const compat = yield* world.request("POST", "/compat/resend/emails", { key: test, body: scripted("bounce") })
    const hard = Uuid.idOf("EmailId", accepted(compat)) ?? assert.fail(compat.text)
    assert.deepStrictEqual(yield* story(hard), ["queued", "bounced 550 5.1.1"])
    assert.deepStrictEqual(yield* simulations(hard), [{ simulated: true, would_suppress: "hard_bounce" }])
  })

  it.effect("is shown in the history of the message, and taken out of the mail", function* () {
    const { accepted, callTest, settled } = yield* customer
    const id = accepted(yield* callTest("POST", "/v1/email/send", scripted("slow; deliver")))
    yield* settled(id)
    const events = yield* callTest("GET", `/v1/email/logs/${id}/events`)
    const { headers, script } = events.json.data[0].data
    assert.deepStrictEqual([headers, script], [{ "X-Order": "7041" }, "slow; deliver"])
    const mail = yield* callTest("GET", `/v1/sandbox/messages/${id}`)
    const raw = Buffer.from(mail.json.raw, "base64").toString("latin1")
    assert.include(raw, "X-Order: 7041")
    assert.notMatch(raw, /waybill-script/iu)
  })

  it.effect("is refused with a sentence when it is malformed, or the key is live", function* () {
    const { call, callTest, key, test } = yield* customer
    const send = (body: unknown, ask: typeof call = callTest) => ask("POST", "/v1/email/send", body)
    const path = "headers.X-Waybill-Script"
    const cases: ReadonlyArray<readonly [Answer, string, string, RegExp]> = [
      [yield* send(scripted("defer; bonuce")), "validation_failed", path, /unknown word "bonuce" \(did you mean/u],
      [yield* send(scripted("bounce 451")), "validation_failed", path, /takes a code from 500 to 559/u],
      [yield* send(scripted("x".repeat(501))), "validation_failed", path, /at most 500 are allowed/u],
      [
        yield* send({ ...EMAIL, headers: { "X-Waybill-Script": "defer", "x-waybill-script": "bounce" } }),
        "validation_failed",
        "headers.x-waybill-script",
        /is set twice/u,
      ],
      [yield* send(scripted("bounce"), call), "script_of_live_mail", path, /test key only/u],
    ]
    for (const [{ json, status }, reason, field, sentence] of cases) {
      assert.deepStrictEqual([status, json.error.reason, json.error.details[0].path], [400, reason, field])
      assert.match(json.error.details[0].message, sentence)
    }
    const port = yield* Smtp.submission()
    const mail = (script: string) => scripted(script, { from: "hi@shop.example" })
    assert.match(yield* Smtp.send(port, key, mail("bounce")), /^5\d\d .*Only test mail has a script/u)
    assert.match(yield* Smtp.send(port, test, mail("bonuce")), /^5\d\d .*unknown word "bonuce"/u)
  })
})

/** The names of docs/test-mode.md, with their final status. */
const NAMES = [...readFileSync("docs/test-mode.md", "utf8").matchAll(/^\| `([a-z-]+)@` \| `([a-z]+)` \|/gmu)].map(
  ([, name = "", status = ""]) => [name, status] as const,
)

layer(HttpWorld.layer({ transport: "relay" }), { excludeTestServices: true })("the recipients of test mail", (it) => {
  it.effect(
    "have the outcome of their name on any domain, again and again, and suppress only when asked",
    function* () {
      const { accepted, callTest, settled } = yield* customer
      const outcomes = Effect.fnUntraced(function* (to: ReadonlyArray<string>) {
        const id = accepted(yield* callTest("POST", "/v1/email/send", { ...EMAIL, to }))
        yield* settled(id)
        const { json } = yield* callTest("GET", `/v1/email/logs/${id}`)
        return json.recipients.map(({ status }: { status: string }) => status)
      })
      const to = NAMES.map(([name]) => `${name}+7041@example.org`)
      const expected = NAMES.map(([, status]) => status)
      assert.lengthOf(to, 10)
      assert.deepStrictEqual(yield* outcomes(to), expected)
      assert.deepStrictEqual(yield* outcomes(to), expected)
      assert.deepStrictEqual(suppressed(yield* callTest("GET", "/v1/suppressions")), [])

      const asked = ["bounced+suppress@example.org", "complained+suppress@example.org"]
      assert.deepStrictEqual(yield* outcomes(asked), ["bounced", "complained"])
      assert.deepStrictEqual(yield* outcomes([...asked, "ana@example.org"]), ["suppressed", "suppressed", "delivered"])
      const full = ["mailbox-full+suppress@example.org"]
      assert.deepStrictEqual(yield* Effect.forEach([full, full, full], outcomes), [
        ["bounced"],
        ["bounced"],
        ["bounced"],
      ])
      const again = yield* callTest("POST", "/v1/email/send", { ...EMAIL, to: full })
      assert.deepStrictEqual([again.status, again.json.error.reason], [422, "all_recipients_suppressed"])
    },
  )
})
