import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Resend } from "resend"
import { HttpWorld } from "../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("the package resend", (it) => {
  it.effect("sends an email, and reads an error", () =>
    Effect.gen(function* () {
      const world = yield* HttpWorld
      const { secret } = yield* world.key(yield* world.account())
      yield* world.ask("POST", "/v1/domains", { key: secret, body: { name: "acme.test" } })
      const resend = new Resend(secret, { baseUrl: `${world.url}/compat/resend` })
      const email = { from: "Acme <hi@acme.test>", to: "ana@example.org", subject: "x", text: "Hello" }
      const sent = yield* Effect.promise(() => resend.emails.send(email, { idempotencyKey: "a" }))
      assert.match(sent.data?.id ?? JSON.stringify(sent), /^msg_/u)
      const again = yield* Effect.promise(() => resend.emails.send(email, { idempotencyKey: "a" }))
      assert.strictEqual(again.data?.id, sent.data?.id)
      const reused = yield* Effect.promise(() =>
        resend.emails.send({ ...email, subject: "y" }, { idempotencyKey: "a" }),
      )
      assert.deepStrictEqual([reused.error?.statusCode, reused.error?.name], [409, "invalid_idempotent_request"])
      const foreign = yield* Effect.promise(() => resend.emails.send({ ...email, from: "x@other.test" }))
      assert.deepStrictEqual([foreign.error?.statusCode, foreign.error?.name], [422, "validation_error"])
      const anonymous = new Resend("re_123", { baseUrl: `${world.url}/compat/resend` })
      const refused = yield* Effect.promise(() => anonymous.emails.send(email))
      assert.deepStrictEqual([refused.error?.statusCode, refused.error?.name], [401, "invalid_api_key"])
      const unknown = yield* Effect.promise(() => resend.broadcasts.list())
      assert.deepStrictEqual([unknown.error?.statusCode, unknown.error?.name], [404, "not_found"])
      console.log(sent, foreign.error, refused.error, unknown.error)
    }),
  )
})
