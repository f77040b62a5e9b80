import { Sql } from "@waybill/store/postgres/Sql"
import { Context, Effect, Layer } from "effect"
import { MAX_TEXT_BYTES } from "../../../../apps/server/src/worker/webhooks/InboundBody.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { freePort } from "../../../support/process/service.ts"
import * as WebhookReceiver from "../../../support/web/WebhookReceiver.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"
import * as Sender from "../Sender.ts"

const DAYS = 3
const MAX_BYTES = 2_000_000
const HOUR_MS = 3_600_000
const LINE = `${"x".repeat(76)}\r\n`

/** A service with bounds of its operator, whose customer has a webhook for received mail. */
const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const receiver = yield* WebhookReceiver.listen()
  const port = yield* Effect.promise(freePort)
  const node = yield* ServiceProcess.start(url, {
    MAIL_PORT: String(port),
    INBOUND_DAYS: String(DAYS),
    INBOUND_MAX_BYTES: String(MAX_BYTES),
    WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
  })
  const { post } = yield* ServiceProcess.signUp(node, { domain: "shop.test" })
  yield* post("/v1/webhooks", { url: receiver.url, events: ["email.received"] })
  const deliver = (raw: string) => Effect.promise(async () => Sender.idIn(await Sender.send(port, raw)))
  /** The data of the calls so far about a mail. */
  const callsOf = (id: string) =>
    receiver.calls.map(({ body }) => JSON.parse(body).data).filter((data: { readonly id: string }) => data.id === id)
  return { callsOf, deliver, post }
})

class Running extends Context.Service<Running, Effect.Success<typeof start>>()("test/server/inbound/Settings") {
  static readonly layer = Layer.effect(Running, start)
}

const mail = (size: number, line: string, ...headers: ReadonlyArray<string>) => {
  const head = ["From: ana@example.org", "MIME-Version: 1.0", ...headers, "", ""].join("\r\n")
  return head + line.repeat((size - head.length) / Buffer.byteLength(line))
}

layer(Running.layer.pipe(Layer.provideMerge(World.layer)), { excludeTestServices: true, timeout: "120 seconds" })(
  "received mail",
  (it) => {
    it.effect("has the size and the days that the operator sets", function* () {
      const { deliver } = yield* Running
      const { driver: sql } = yield* Sql
      const id = yield* deliver(mail(MAX_BYTES - 2_000, LINE))
      const kept = yield* sql<{ readonly days: number }>`
        SELECT round(extract(epoch FROM expires_at - now()) / 86400)::int AS days FROM inbound_content
        WHERE starts_with(id, ${id})`
      assert.deepStrictEqual([...new Set(kept.map(({ days }) => days))], [DAYS])
      assert.match(yield* deliver(mail(MAX_BYTES + 1_000, LINE)), /^552 5\.3\.4 .*2000000 bytes/u)
    })

    it.effect("is told with each text up to a number of bytes, and whole through the API", function* () {
      const { callsOf, deliver } = yield* Running
      const utf8 = ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit"]
      const short = yield* deliver(mail(1_000, "x\r\n", ...utf8))
      const long = yield* deliver(mail(2 * MAX_TEXT_BYTES, `${"ü€".repeat(12)}\r\n`, ...utf8))
      const [whole] = yield* World.until(
        Effect.sync(() => callsOf(short)),
        ({ length }) => length > 0,
      )
      assert.notProperty(whole, "truncated")
      const [cut] = yield* World.until(
        Effect.sync(() => callsOf(long)),
        ({ length }) => length > 0,
      )
      assert.isTrue(cut.truncated)
      for (const field of ["text", "stripped_text"]) {
        assert.isAtMost(Buffer.byteLength(cut[field]), MAX_TEXT_BYTES, field)
        assert.isAbove(Buffer.byteLength(cut[field]), MAX_TEXT_BYTES - 4, field)
        assert.notInclude(cut[field], "\uFFFD", field)
      }
    })

    it.effect("is told with links for an hour, which are new with a replay", function* () {
      const { callsOf, deliver, post } = yield* Running
      const began = Date.now()
      const id = yield* deliver(mail(500, "x", 'Content-Type: application/pdf; name="a.pdf"'))
      const told = (times: number) =>
        World.until(
          Effect.sync(() => callsOf(id)),
          ({ length }) => length >= times,
        )
      const [first] = yield* told(1)
      // A link has the second of its end.
      const nextSecond = Date.parse(first.attachments[0].expires_at) - HOUR_MS + 1_000
      yield* World.until(
        Effect.sync(() => Date.now()),
        (now) => now >= nextSecond,
      )
      yield* post(`/v1/inbound/${id}/replay`, {})
      const calls = yield* told(2)
      assert.lengthOf(new Set(calls.map(({ attachments }) => attachments[0].url)), 2)
      for (const { attachments } of calls) {
        const [{ expires_at, url }] = attachments
        const lives = Date.parse(expires_at) - HOUR_MS
        assert.isAtLeast(lives, began)
        assert.isAtMost(lives, Date.now())
        assert.strictEqual((yield* Effect.promise(() => fetch(url))).status, 200)
      }
    })
  },
)
