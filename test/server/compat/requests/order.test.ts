import * as Excess from "@waybill/api/errors/Excess"
import { Sendable } from "@waybill/api/schemas/send/Sendable"
import { TemplatedMessage } from "@waybill/api/schemas/send/TemplatedMessage"
import { SchemaAST } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"
import * as Doors from "../../../../apps/server/src/compat/doors/Doors.ts"
import * as Endpoints from "../../../../apps/server/src/compat/Endpoints.ts"
import * as UnknownFields from "./unknownFields.ts"
import type { Route } from "../../../../apps/server/src/compat/Door.ts"

const DOORS = Object.values(Doors.NAMED)

/** A path of a route, with values for its parameters. */
const pathOf = ({ path }: Route): string => path.replace(":stream", "outbound").replaceAll(/:\w+/gu, "x")

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("a door", (it) => {
  // threat: doors
  it.effect("refuses a key without the scope of the route before it parses the body", function* () {
    const { keyWith, world } = yield* signUp()
    let count = 0
    for (const door of DOORS) {
      const key = yield* keyWith({ scopes: ["stats:read"] })
      for (const route of door.routes) {
        const scope = route.endpoint === undefined ? undefined : Endpoints.scopeOf(route.endpoint)
        if (scope === undefined || scope === "stats:read") continue
        const path = `${door.prefix}${pathOf(route)}`
        const headers = { "x-postmark-server-token": key }
        const raw = route.method === "GET" ? {} : { raw: "{" }
        const { status, text } = yield* world.request(route.method, path, { key, headers, ...raw })
        assert.match(text, /does not have the scope/u, `${route.method} ${path}`)
        assert.include([401, 403], status, path)
        count++
      }
    }
    assert.isAbove(count, 30)
  })

  it.effect("refuses a key that is bound to a domain before it parses the body", function* () {
    const { keyWith, world } = yield* signUp({ domains: ["acme.test"] })
    const key = yield* keyWith({ domain: "acme.test" })
    const { text } = yield* world.request("POST", "/compat/resend/webhooks", { key, raw: "{" })
    assert.match(text, /bound to/u)
  })

  it.effect("refuses an unknown path before it reads the body", function* () {
    const { key, world } = yield* signUp()
    for (const { prefix } of DOORS) {
      const headers = { "x-postmark-server-token": key }
      const { status, text } = yield* world.request("POST", `${prefix}/nothing`, { key, headers, raw: "{" })
      assert.strictEqual(status, 404, text)
    }
  })

  // A decoder that finds unknown fields is slow, so that the walk over numbers and fields has to find each one.
  it("knows the fields of every object of every body", () => {
    const bodies = DOORS.flatMap(({ prefix, routes }) =>
      routes.flatMap(({ body, method, path }) =>
        body === undefined ? [] : [{ name: `${method} ${prefix}${path}`, decoded: body, shape: body }],
      ),
    )
    const all = [...bodies, { name: "a send", decoded: Sendable, shape: TemplatedMessage }]
    const samples = all.flatMap(({ decoded, name, shape }) =>
      UnknownFields.samplesOf(shape.ast).map(({ place, value }) => ({
        what: `${name} ${place}`,
        isFound: Excess.bound({ ast: decoded.ast }, value).isExceeded,
      })),
    )
    assert.isAbove(samples.length, 80)
    assert.deepStrictEqual(
      samples.filter(({ isFound }) => !isFound),
      [],
    )
  })

  // Such a decoder is compiled whole; each field that a schema transforms is decoded by calls of its own.
  it("has bodies of sends that are decoded to what they are", () => {
    const sends = DOORS.flatMap(({ routes }) => routes.filter(({ bucket }) => bucket === "send"))
    assert.isAbove(sends.length, 6)
    assert.deepStrictEqual(
      sends.filter(({ body }) => body === undefined || SchemaAST.toType(body.ast) !== body.ast),
      [],
    )
  })

  it.effect("states the body of every route that takes one", function* () {
    const without = DOORS.flatMap(({ prefix, routes }) =>
      routes
        .filter(({ body, endpoint, method }) => endpoint !== undefined && method !== "GET" && body === undefined)
        .map(({ method, path }) => `${method} ${prefix}${path}`),
    )
    assert.deepStrictEqual(without, [
      "POST /compat/resend/emails/:id/cancel",
      "POST /compat/resend/domains/:id/verify",
      "DELETE /compat/resend/domains/:id",
      "DELETE /compat/resend/api-keys/:id",
      "DELETE /compat/resend/webhooks/:id",
      "POST /compat/resend/webhooks/:id/signing-secret/rotate",
      "POST /compat/resend/webhooks/:id/events/:event/replay",
      "DELETE /compat/resend/suppressions/:id",
      "POST /compat/resend/templates/:id/publish",
      "POST /compat/resend/templates/:id/duplicate",
      "DELETE /compat/resend/templates/:id",
      "PUT /compat/postmark/messages/inbound/:id/bypass",
      "PUT /compat/postmark/messages/inbound/:id/retry",
      "DELETE /compat/postmark/triggers/inboundRules/:id",
      "DELETE /compat/postmark/triggers/inboundrules/:id",
      "PUT /compat/postmark/bounces/:id/activate",
      "DELETE /compat/postmark/templates/:id",
      "POST /compat/sendgrid/v3/mail/batch",
      "DELETE /compat/sendgrid/v3/user/scheduled_sends/:id",
      "DELETE /compat/sendgrid/v3/templates/:template_id",
      "POST /compat/sendgrid/v3/templates/:template_id/versions/:version_id/activate",
    ])
  })
})
