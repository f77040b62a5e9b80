import * as Inbound from "@waybill/domain/inbound/Inbound"
import type * as InboundState from "@waybill/domain/inbound/InboundState"
import * as Route from "@waybill/domain/inbound/Route"
import type * as RouteState from "@waybill/domain/inbound/RouteState"
import * as RoutePattern from "@waybill/domain/inbound/RoutePattern"
import * as Routing from "@waybill/domain/inbound/Routing"
import type { Address } from "@waybill/domain/values/Address"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"

const NOW = "2026-11-29T10:00:00.000Z" as Timestamp.Timestamp
const LATER = "2026-11-29T11:00:00.000Z" as Timestamp.Timestamp

const pattern = (text: string) => Result.getOrThrow(RoutePattern.parse(text))

const FACTS: Routing.Facts = {
  to: ["info@acme.test", "Support+42@acme.test"],
  from: "ana@example.org",
  subject: "Re: Your order",
  verdict: "pass",
}

const STORE: RouteState.RouteSettings = {
  match: {},
  action: { type: "store" },
  position: 0,
  enabled: true,
  stop: false,
}

const route = (settings: Partial<RouteState.RouteSettings>): Routing.Candidate => ({
  ...STORE,
  ...settings,
  route_id: id("InboundRouteId"),
})

const applied = (...routes: ReadonlyArray<Routing.Candidate>) =>
  Routing.plan(routes, FACTS).applied.map(({ route_id }) => routes.findIndex((each) => each.route_id === route_id))

describe("a pattern of addresses", () => {
  it.for([
    ["support@acme.test", "support@acme.test", true],
    ["Support@ACME.test", "support@acme.test", true],
    ["support@acme.test", "support+42@acme.test", false],
    ["*@acme.test", "anything@acme.test", true],
    ["*@acme.test", "anything@sub.acme.test", false],
    ["*@acme.test", "anything@notacme.test", false],
    ["support+*@acme.test", "support+42@acme.test", true],
    ["support+*@acme.test", "SUPPORT+4+2@acme.test", true],
    ["support+*@acme.test", "support@acme.test", false],
    ["support+*@acme.test", "support+@acme.test", false],
    ["support+*@acme.test", "xsupport+42@acme.test", false],
    ["support+*@acme.test", "support+42@other.test", false],
  ] as const)("%s and %s: %s", ([text, address, expected]) => {
    assert.strictEqual(RoutePattern.matches(pattern(text), address), expected)
  })

  it.for([
    "",
    "*",
    "*@",
    "acme.test",
    "a*@acme.test",
    "+*@acme.test",
    "*+*@acme.test",
    "*@*",
    "a b@acme.test",
    "a@\nb.test",
  ])("%j is none", (text) => {
    assert.isTrue(Result.isFailure(RoutePattern.parse(text)), text)
  })
})

describe("routes of a mail", () => {
  it("apply if all of their conditions hold", () => {
    assert.deepStrictEqual(
      applied(
        route({ match: {} }),
        route({ match: { to: pattern("support+*@acme.test"), subject: "YOUR ORDER" } }),
        route({ match: { to: pattern("support+*@acme.test"), subject: "invoice" } }),
        route({ match: { from: pattern("*@example.org"), verdict: "pass" } }),
        route({ match: { from: pattern("*@example.org"), verdict: "fail" } }),
        route({ match: { from: pattern("bo@example.org") } }),
        route({ match: {}, enabled: false }),
      ),
      [0, 1, 3],
    )
  })

  it("apply in the order of their positions, until one stops", () => {
    assert.deepStrictEqual(
      applied(route({ position: 3 }), route({ position: 2, stop: true }), route({ position: 1 })),
      [2, 1],
    )
    const [first, second] = [route({ stop: true }), route({ match: {} })]
    const [, other] = Routing.choose([first, second], FACTS)
    assert.deepInclude(other, { applies: false, reason: `route ${first.route_id} ends the choice` })
  })

  it("end with one that drops, and one that rejects is the only one", () => {
    const [store, drop] = [route({}), route({ action: { type: "drop" } })]
    assert.deepInclude(Routing.plan([store, drop, route({})], FACTS), {
      status: "dropped",
      applied: [
        { route_id: store.route_id, action: "store" },
        { route_id: drop.route_id, action: "drop" },
      ],
    })
    const to = ["bo@example.org" as Address]
    const forward = route({ action: { type: "forward", to } })
    assert.deepInclude(Routing.plan([forward, route({})], FACTS), {
      forwards: [{ route_id: forward.route_id, to }],
    })
    const reject = route({ action: { type: "reject", message: "No" } })
    assert.deepStrictEqual(Routing.plan([forward, reject], FACTS).forwards, [])
    assert.deepStrictEqual(Routing.plan([store, reject, route({})], FACTS), {
      status: "rejected",
      applied: [{ route_id: reject.route_id, action: "reject" }],
      forwards: [],
      message: "No",
    })
    assert.deepStrictEqual(Routing.plan([], FACTS), {
      status: "received",
      applied: [],
      forwards: [],
      message: undefined,
    })
  })

  it("decide which webhooks are called", () => {
    const [one, two] = [id("WebhookId"), id("WebhookId")]
    const mail = {} as InboundState.Received
    const state = (...routes: ReadonlyArray<object>) =>
      ({ _tag: "Received", mail, status: "received", routes }) as Inbound.State
    const called = (state: Inbound.State) =>
      [one, two].map((webhook) => [Inbound.calls(state, webhook, true), Inbound.calls(state, webhook, false)])
    const [YES, NO, ASKED] = [
      [true, true],
      [false, false],
      [true, false],
    ]
    assert.deepStrictEqual(called(state()), [ASKED, ASKED])
    assert.deepStrictEqual(called(state({ action: "store" })), [NO, NO])
    assert.deepStrictEqual(called(state({ action: "webhook" })), [ASKED, ASKED])
    assert.deepStrictEqual(called(state({ action: "store" }, { action: "webhook", webhook_id: one })), [YES, NO])
  })
})

describe("a route", () => {
  const created = (others = 0) => Route.create(NOW, id("InboundRouteId"), STORE, others)(Route.initial)
  const state = Result.getOrThrow(created()).reduce<Route.State>(Route.evolve, Route.initial)

  it("is created up to the limit of the account, changed and deleted", () => {
    assert.isTrue(Result.isSuccess(created(99)))
    const tooMany = created(100)
    assert.strictEqual(Result.isFailure(tooMany) ? tooMany.failure._tag : "", "TooManyInboundRoutes")
    const changed = Result.getOrThrow(Route.update(LATER, { stop: true })(state)).reduce(Route.evolve, state)
    assert.deepInclude(changed, { stop: true, enabled: true, created_at: NOW, updated_at: LATER })
    assert.isTrue(Result.isFailure(Route.update(LATER, { stop: false })(state)))
    const deleted = Result.getOrThrow(Route.remove(LATER)(state)).reduce(Route.evolve, state)
    const again = Route.update(LATER, { stop: true })(deleted)
    assert.strictEqual(Result.isFailure(again) ? again.failure._tag : "", "InboundRouteNotFound")
    assert.isTrue(Result.isFailure(Route.remove(LATER)(deleted)))
  })
})
