import { type Provider, PROVIDERS } from "../../../apps/server/src/providers/formats/ProviderEvent.ts"
import { readCall } from "../../../apps/server/src/providers/formats/readCall.ts"
import { refsIn } from "../../../apps/server/src/providers/HandedOver.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import { dice } from "../../support/dice.ts"
import * as Calls from "./calls.ts"

const KINDS = ["delivered", "deferred", "bounced", "complained", "opened", "clicked"] as const
const about = (kind: Calls.About["kind"]): Calls.About => ({
  kind,
  to: "ana@example.org",
  messageId: "<msg_01m7ynaym0e008000000000001@acme.test>",
  ref: "0100017a-ref-000000",
  id: `evt-${kind}`,
  at: 1_795_000_000_000,
})

/** The return path in the documented calls. SendGrid and Resend do not report it. */
const RETURN_PATHS: Partial<Record<Provider, string>> = {
  ses: "b-01m7@bounce.acme.test",
  postmark: "b-01m7",
  mailgun: "bounce@acme.test",
  sparkpost: "bounce@acme.test",
}

describe("a call of a provider", () => {
  for (const provider of PROVIDERS) {
    it(`of ${provider} is read as events with recipient, id, time and meaning`, () => {
      for (const kind of KINDS) {
        const { events, malformed } = readCall(provider, Calls.BODIES[provider](about(kind)))
        assert.strictEqual(malformed, 0, kind)
        assert.lengthOf(events, 1, kind)
        const [event] = events
        assert.deepInclude(event, { kind, recipient: "ana@example.org", at: about(kind).at })
        const hasEnvelope = provider !== "mailgun" || (kind !== "complained" && kind !== "opened" && kind !== "clicked")
        assert.strictEqual(event?.returnPath, hasEnvelope ? RETURN_PATHS[provider] : undefined, kind)
        const isNamed = event?.messageId?.includes("msg_01m7ynaym0e008000000000001") === true
        assert.isTrue(isNamed || event?.ref === "0100017a-ref-000000", kind)
        assert.strictEqual(event?.isHard, kind === "bounced", kind)
        if (kind === "clicked") assert.strictEqual(event?.url, "https://shop.test/o?id=7")
        if (kind === "bounced") assert.deepInclude(event, { status: "5.1.1", code: 550 })
      }
    })
  }

  it("cut anywhere, doubled, mixed or with values of other kinds is read or counted, and never fails", () => {
    const random = dice(7)
    const mangle = (value: unknown): unknown => {
      if (random.chance(0.04))
        return random.pick([null, 0, -1e308, "", [], {}, true, "x".repeat(5_000), [[]], { a: {} }])
      if (Array.isArray(value)) return value.flatMap((each) => (random.chance(0.1) ? [] : [mangle(each)]))
      if (typeof value !== "object" || value === null) return value
      const kept = Object.entries(value).filter(() => !random.chance(0.05))
      return Object.fromEntries(kept.map(([name, each]) => [name, mangle(each)]))
    }
    const bodies = PROVIDERS.flatMap((provider) => KINDS.map((kind) => Calls.BODIES[provider](about(kind))))
    let read = 0
    for (let round = 0; round < 2_000; round++) {
      const body = mangle(random.pick(bodies))
      const mixed = random.chance(0.3) ? [body, random.pick(bodies), body].flat() : body
      const { events, malformed } = readCall(random.pick([...PROVIDERS]), mixed)
      assert.isAtLeast(malformed, 0)
      for (const event of events) {
        read++
        assert.include(KINDS, event.kind)
        for (const text of [event.id, event.recipient, event.text, event.url, event.ref])
          assert.isAtMost(text?.length ?? 0, 10_000)
      }
    }
    assert.isAbove(read, 100)
  })

  it("the answer to a hand-over names the message in the form of the provider", () => {
    const id = "01020174-ab12-4c3d-8e9f-000000000000"
    for (const [response, ref] of [
      ["<0102017a1b2c3d4e-5f6a7b8c-0000@eu-west-1.amazonses.com>", "0102017a1b2c3d4e-5f6a7b8c-0000"],
      ["Ok 0102017A1b2c3d4e-5f6a7b8c-000000", "0102017a1b2c3d4e-5f6a7b8c-000000"],
      ["Ok: queued as 14c5d75ce93.dfd.64b469", "14c5d75ce93.dfd.64b469"],
      [id, id],
      [`{"id":"${id}"}`, id],
    ] as const)
      assert.include(refsIn(response), ref, response)
    assert.deepStrictEqual(refsIn("250 2.0.0 OK"), [])
  })
})
