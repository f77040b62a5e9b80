import type { DomainSpfRecord } from "resend"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import { good, refusal, setUp } from "./resendClient.ts"

layer(HttpWorld.layer({ transport: "relay", tracks: true, trackingHost: "links.waybill.example" }), {
  excludeTestServices: true,
  timeout: "90 seconds",
})("the domains of the package resend", (it) => {
  it.effect("has domains, with the records to publish", function* () {
    const { resend } = yield* setUp
    const made = yield* good(() =>
      resend.domains.create({ name: "acme.test", openTracking: true, trackingSubdomain: "links" }),
    )
    assert.deepStrictEqual(
      [made.name, made.status, made.open_tracking, made.click_tracking, made.tracking_subdomain, made.capabilities],
      ["acme.test", "not_started", true, false, "links", { sending: "enabled", receiving: "disabled" }],
    )
    assert.deepStrictEqual(
      made.records.map(({ name, record, status, type }) => [record, type, name, status]),
      [
        ["DKIM", "TXT", "wb1._domainkey", "not_started"],
        ["SPF", "CNAME", "bounce", "not_started"],
        ["Tracking", "CNAME", "links", "not_started"],
      ],
    )
    // Programs find the return path by this name. The package has a CNAME among its types.
    const spf = made.records.find((each): each is DomainSpfRecord => each.record === "SPF")
    const type: DomainSpfRecord["type"] = "CNAME"
    assert.deepInclude(spf, { type, name: "bounce", status: "not_started" })
    const { id } = made
    yield* good(() => resend.domains.verify(id))
    assert.strictEqual((yield* good(() => resend.domains.get(id))).status, "pending")
    yield* good(() => resend.domains.update({ id, clickTracking: true, openTracking: false, tls: "opportunistic" }))
    yield* good(() => resend.domains.create({ name: "shop.test" }))
    const { data, has_more } = yield* good(() => resend.domains.list({ limit: 1 }))
    assert.deepStrictEqual([data[0]?.id, data[0]?.click_tracking, data[0]?.open_tracking], [id, true, false])
    assert.isTrue(has_more)
    const rest = yield* good(() => resend.domains.list({ after: id }))
    assert.deepStrictEqual([rest.data.map(({ name }) => name), rest.has_more], [["shop.test"], false])
    assert.deepStrictEqual(yield* good(() => resend.domains.remove(id)), { object: "domain", id, deleted: true })
  })

  it.effect("are in its webhooks", function* () {
    const { request, resend } = yield* setUp
    const endpoint = "https://example.org/hook"
    const { id: webhookId } = yield* good(() =>
      resend.webhooks.create({ endpoint, events: ["domain.created", "domain.updated"] }),
    )
    assert.deepStrictEqual((yield* request("GET", `/v1/webhooks/${webhookId}`)).json.events, [
      "domain.created",
      "domain.verified",
      "domain.degraded",
      "domain.failed",
    ])
    assert.deepStrictEqual((yield* good(() => resend.webhooks.get(webhookId))).events, [
      "domain.created",
      "domain.updated",
    ])
    const { id, records } = yield* good(() => resend.domains.create({ name: "hooked.example" }))
    const [event] = (yield* good(() => resend.webhooks.events.list({ webhookId }))).data
    const { payload } = yield* good(() => resend.webhooks.events.get({ webhookId, eventId: event?.id ?? "" }))
    const { data, type } = payload as { readonly data: object; readonly type: string }
    assert.strictEqual(type, "domain.created")
    assert.deepInclude(data, { id, name: "hooked.example", status: "not_started", records })
  })

  it.effect("refuses what its domains cannot be, by the names of the package's API", function* () {
    const { resend } = yield* setUp
    const { create, update } = {
      create: resend.domains.create.bind(resend.domains),
      update: resend.domains.update.bind(resend.domains),
    }
    const name = "acme.test"
    const given = yield* good(() => create({ name: "eu.test", region: "eu-west-1", customReturnPath: "send" }))
    assert.deepInclude(given as object, { region: "eu-west-1", custom_return_path: "send" })
    assert.match((yield* refusal(() => create({ name, tls: "enforced" })))[2], /^`tls` must be opportunistic/u)
    const receives = { name, capabilities: { receiving: "perhaps" as "enabled" } }
    assert.match((yield* refusal(() => create(receives)))[2], /^`capabilities.receiving` /u)
    // The refused subdomain leaves no domain behind.
    assert.match((yield* refusal(() => create({ name, trackingSubdomain: "bounce" })))[2], /bounce\.acme\.test/u)
    const { id } = yield* good(() => create({ name }))
    const twice = yield* refusal(() => create({ name }))
    assert.deepStrictEqual(twice.slice(0, 2), [422, "validation_error"])
    assert.match((yield* refusal(() => update({ id, trackingSubdomain: "_x y" })))[2], /^`tracking_subdomain` /u)
    assert.deepStrictEqual(yield* refusal(() => create({ name: undefined as unknown as string })), [
      422,
      "missing_required_field",
      "`name` is required.",
    ])
    assert.deepStrictEqual(
      (yield* refusal(() => resend.domains.list({ limit: 0 })))[2],
      "`limit` must be a whole number from 1 to 100.",
    )
    assert.deepStrictEqual(
      (yield* refusal(() => resend.domains.list({ after: "x" })))[2],
      "`after` is not the id of an entry of this list.",
    )
    assert.deepStrictEqual(
      (yield* refusal(() => resend.get("/domains?region=x")))[2],
      "`region` is an unknown parameter; Waybill has no meaning for it, so leave it out.",
    )
  })
})
