import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import * as Database from "../support/database.ts"
import * as Delivery from "../support/delivery.ts"
import { type Answer, Lab } from "./httpLab.ts"

const MESSAGE = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "Hello", text: "Hi" }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** A server that has the whole message, and says so only when it is told to. */
const slowServer = Effect.gen(function* () {
  const answers: Array<() => void> = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, _, done) => stream.resume().on("end", () => answers.push(done)),
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () => Effect.promise(() => new Promise<void>((resolve) => server.close(resolve))),
  )
  const { port } = server.server.address() as AddressInfo
  return { at: { host: "127.0.0.1", port }, holds: Effect.sync(() => answers.length), answers }
})

/** An account with a domain, and a worker that relays what it sends. */
const setUp = Effect.fnUntraced(function* (at: Parameters<typeof Delivery.relay>[0]) {
  const lab = yield* Lab
  const account = yield* lab.account()
  const { secret: key } = yield* lab.key(account)
  const call = (method: string, path: string, body?: unknown) =>
    lab.ask(method, path, { key, ...(body === undefined ? {} : { body }) })
  yield* call("POST", "/v1/domains", { name: "acme.test" })
  const { url } = yield* Database.Fresh
  yield* Layer.build(Delivery.worker(url, { relay: Delivery.relay(at) }))
  const send = (change: object = {}) =>
    Effect.map(call("POST", "/v1/email/send", { ...MESSAGE, ...change }), ({ json }) => json.id as string)
  const becomes = (id: string, status: string) =>
    Delivery.until(
      Effect.map(call("GET", `/v1/email/logs/${id}`), ({ json }) => json),
      (record) => record.status === status,
    )
  return { call, send, becomes }
})

const refusal = ({ json, status }: Answer) => [status, json.error?.reason, json.error?.message]
const TOO_LATE = [
  422,
  "not_cancelable",
  "This email is being delivered right now, so it can no longer be canceled or rescheduled.",
]

layer(Lab.layer(), { excludeTestServices: true, timeout: "60 seconds" })("an email under way", (it) => {
  it.effect("is neither canceled nor rescheduled, for a server may have it already", () =>
    Effect.gen(function* () {
      const server = yield* slowServer
      const { becomes, call, send } = yield* setUp(server.at)
      const id = yield* send()
      yield* Delivery.until(server.holds, (held) => held === 1)
      assert.deepStrictEqual(refusal(yield* call("POST", `/v1/email/${id}/cancel`)), TOO_LATE)
      assert.deepStrictEqual(refusal(yield* call("PATCH", `/v1/email/${id}`, { scheduled_at: inAnHour() })), TOO_LATE)
      server.answers[0]?.()
      const { attempts, version } = yield* becomes(id, "delivered")
      assert.deepStrictEqual([attempts, version, server.answers.length], [1, 2, 1])
      assert.strictEqual((yield* call("GET", "/v1/account")).json.usage.emails, 1)
    }),
  )
})
