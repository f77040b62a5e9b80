import sendgrid from "@sendgrid/mail"
import { Effect } from "effect"
import * as BatchId from "../../../../apps/server/src/compat/sendgrid/BatchId.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld } from "../../../support/world/HttpWorld.ts"
import * as World from "../../../support/world/World.ts"
import { BEGIN, customer, worker } from "../../clock/customer.ts"
import { email, type MailService } from "../sendgridCalls.ts"

const { MailService: MailServices } = sendgrid as unknown as { readonly MailService: new () => MailService }

interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Programs with the package `@sendgrid/client`, which `@sendgrid/mail` holds. */
const programs = Effect.gen(function* () {
  const world = yield* HttpWorld
  const mailOf = (key: string) => {
    const mail = new MailServices()
    mail.setApiKey(key)
    mail.client.setDefaultRequest("baseUrl", `${world.url}/compat/sendgrid`)
    const call = (method: string, url: string, body?: object) =>
      Effect.promise(() =>
        mail.client.request({ method, url, ...(body === undefined ? {} : { body }) }).then(
          (answer): Answer => {
            const [{ body: got, statusCode }] = answer as readonly [
              { readonly body: unknown; readonly statusCode: number },
            ]
            return { status: statusCode, body: got }
          },
          ({
            code,
            response,
          }: {
            code: number
            response: { body: { errors: ReadonlyArray<{ message: string }> } }
          }) => ({
            status: code,
            body: response.body.errors[0]?.message,
          }),
        ),
      )
    const batch = Effect.map(call("POST", "/v3/mail/batch"), ({ body, status }) => {
      assert.strictEqual(status, 201)
      return (body as { readonly batch_id: string }).batch_id
    })
    /** Sends an email of a batch, and returns its id. */
    const send = (batchId: string, change: object = {}) =>
      Effect.promise(() =>
        mail.send(email({ batchId, ...change })).then(([{ headers }]) => String(headers["x-message-id"])),
      )
    return { batch, call, mail, send }
  }
  return { world, mailOf }
})

/** Keeps what waits within the rate limits. */
const PAUSE = "250 millis"
const SCHEDULED = "/v3/user/scheduled_sends"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "120 seconds" })("batches of SendGrid", (it) => {
  it.effect("are made, checked, paused, canceled and listed, at most ten at a time", function* () {
    const { mailOf, world } = yield* programs
    const account = yield* world.account()
    const { secret } = yield* world.key(account)
    const { batch, call } = mailOf(secret)
    const id = yield* batch
    assert.lengthOf(id, 32)
    assert.deepStrictEqual(yield* call("GET", `/v3/mail/batch/${id}`), { status: 200, body: { batch_id: id } })
    const stranger = mailOf((yield* world.key(yield* world.account())).secret)
    for (const [caller, each] of [
      [call, `${id.slice(0, -1)}~`],
      [call, "x"],
      [stranger.call, id],
    ] as const) {
      assert.strictEqual((yield* caller("GET", `/v3/mail/batch/${encodeURIComponent(each)}`)).status, 400)
      assert.strictEqual((yield* caller("POST", SCHEDULED, { batch_id: each, status: "cancel" })).status, 400)
    }
    assert.strictEqual((yield* call("GET", `${SCHEDULED}/${id}`)).status, 404)
    assert.strictEqual((yield* call("PATCH", `${SCHEDULED}/${id}`, { status: "pause" })).status, 404)
    assert.strictEqual((yield* call("DELETE", `${SCHEDULED}/${id}`)).status, 404)
    const paused = { batch_id: id, status: "pause" }
    assert.deepStrictEqual(yield* call("POST", SCHEDULED, paused), { status: 201, body: paused })
    assert.deepStrictEqual(yield* call("POST", SCHEDULED, { ...paused, status: "cancel" }), {
      status: 400,
      body: "batch_id has the status pause already; change it with PATCH, or end it with DELETE.",
    })
    assert.deepStrictEqual(yield* call("GET", `${SCHEDULED}/${id}`), { status: 200, body: [paused] })
    const canceled = { batch_id: id, status: "cancel" }
    for (let nth = 0; nth < 2; nth++)
      assert.strictEqual((yield* call("PATCH", `${SCHEDULED}/${id}`, { status: "cancel" })).status, 204)
    assert.deepStrictEqual((yield* call("GET", SCHEDULED)).body, [canceled])

    const others = yield* Effect.forEach(Array.from({ length: 9 }), () => batch)
    for (const batch_id of others)
      assert.strictEqual((yield* call("POST", SCHEDULED, { batch_id, status: "pause" })).status, 201)
    const eleventh = { batch_id: yield* batch, status: "pause" }
    assert.deepStrictEqual(yield* call("POST", SCHEDULED, eleventh), {
      status: 400,
      body: "At most 10 batches can be paused or canceled at a time. End another one first.",
    })
    assert.strictEqual((yield* call("DELETE", `${SCHEDULED}/${id}`)).status, 204)
    assert.strictEqual((yield* call("POST", SCHEDULED, eleventh)).status, 201)
    assert.deepStrictEqual((yield* stranger.call("GET", SCHEDULED)).body, [])
    const [event] = (yield* world.request("GET", "/v1/events?types=account.batch_changed&limit=1", { key: secret }))
      .json.data
    assert.deepInclude(event.data, { batch_id: id, status: "pause" })
    assert.strictEqual(event.actor.type, "api_key")
  })

  it.effect("need a key that sends, for mail of every domain", function* () {
    const { mailOf, world } = yield* programs
    const account = yield* world.account()
    const { call } = mailOf((yield* world.key(account, { scopes: ["email:logs:read"] })).secret)
    assert.strictEqual((yield* call("POST", "/v3/mail/batch")).status, 403)
    assert.strictEqual((yield* call("GET", SCHEDULED)).status, 403)
    const bound = mailOf((yield* world.key(account, { domain: "acme.test" })).secret)
    const stop = { batch_id: yield* bound.batch, status: "cancel" }
    assert.strictEqual((yield* bound.call("POST", SCHEDULED, stop)).status, 403)
    assert.strictEqual((yield* bound.call("GET", SCHEDULED)).status, 403)
  })

  it.effect("are canceled when their time comes, with the emails sent to them later", function* () {
    yield* worker
    const { mailOf, world } = yield* programs
    const { advance, clock, keyWith } = yield* customer
    const key = yield* keyWith({ mode: "test", scopes: ["email:send", "email:logs:read"] })
    const headers = { "X-Waybill-Test-Clock": clock }
    const { batch, call, mail, send } = mailOf(key)
    const statusOf = (id: string) =>
      Effect.map(world.request("GET", `/v1/email/logs/${id}`, { key }), ({ json }) => json.status as string).pipe(
        Effect.delay(PAUSE),
      )
    const until = (id: string, status: string) => World.until(statusOf(id), (each) => each === status)
    const [stopped, free] = [yield* batch, yield* batch]
    const sendAt = Date.parse(BEGIN) / 1000 + 3600
    const early = yield* send(stopped, { sendAt, headers })
    const other = yield* send(free, { sendAt, headers })
    assert.strictEqual((yield* call("POST", SCHEDULED, { batch_id: stopped, status: "cancel" })).status, 201)
    const late = yield* send(stopped)
    const advanced = Effect.map(advance({ by: "PT1H" }), ({ status }) => status).pipe(Effect.delay(PAUSE))
    yield* World.until(advanced, (status) => status === 200)
    for (const id of [early, late]) yield* until(id, "canceled")
    yield* until(other, "delivered")
    assert.strictEqual((yield* call("DELETE", `${SCHEDULED}/${stopped}`)).status, 204)
    yield* until(yield* send(stopped), "delivered")
    yield* until(early, "canceled")
    const refused = yield* Effect.promise(() =>
      mail.send(email({ batchId: "x" })).then(
        () => assert.fail("not refused"),
        ({ response }: { response: { body: { errors: ReadonlyArray<{ field: string }> } } }) => response.body.errors,
      ),
    )
    assert.strictEqual(refused[0]?.field, "batch_id")
  })

  it.effect("are held while paused, then sent at their time or soon after, and canceled after 72 hours", function* () {
    yield* worker
    const { advance, clock, timeline, keyWith } = yield* customer
    const { mailOf } = yield* programs
    const test = yield* keyWith({ mode: "test", scopes: ["email:send"] })
    const { batch, call, send } = mailOf(test)
    const [first, second] = [yield* batch, yield* batch]
    const sendAt = Date.parse(BEGIN) / 1000 + 3600
    const headers = { "X-Waybill-Test-Clock": clock }
    for (const batch_id of [first, second])
      assert.strictEqual((yield* call("POST", SCHEDULED, { batch_id, status: "pause" })).status, 201)
    const resumed = yield* send(first, { sendAt, headers })
    const forgotten = yield* send(second, { sendAt, headers })
    const onTime = yield* send(first, { sendAt: sendAt + 5 * 3600, headers })
    const shown = (hours: number) =>
      World.until(
        Effect.map(advance({ by: `PT${hours}H` }), ({ status }) => status).pipe(Effect.delay(PAUSE)),
        (status) => status === 200,
      )
    const last = (id: string) =>
      Effect.delay(
        Effect.map(timeline(id), (events) => events.at(-1)),
        PAUSE,
      )
    yield* shown(2)
    assert.match((yield* last(resumed)) ?? "", / email\.queued$/u)
    assert.strictEqual((yield* call("DELETE", `${SCHEDULED}/${first}`)).status, 204)
    yield* shown(1)
    yield* World.until(last(resumed), (event) => /^2030-01-01T02:.* email\.delivered$/u.test(event ?? ""))
    yield* shown(4)
    yield* World.until(last(onTime), (event) => /^2030-01-01T06:00:00.* email\.delivered$/u.test(event ?? ""))
    yield* shown(70)
    yield* World.until(last(forgotten), (event) => /^2030-01-04T01:.* email\.canceled$/u.test(event ?? ""))
  })

  it.effect("have ids that tell their account", () =>
    Effect.sync(() => {
      const id = BatchId.make("acc_1")
      assert.deepStrictEqual([BatchId.isOf("acc_1", id), BatchId.isOf("acc_2", id)], [true, false])
    }),
  )
})
