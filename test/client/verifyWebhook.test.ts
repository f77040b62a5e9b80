import { Webhook as Standard } from "standardwebhooks"
import { Webhook as Svix } from "svix"
import { assert, describe, it } from "vitest"
import { signatures } from "../../apps/server/src/worker/webhooks/WebhookSignature.ts"
import { verifyWebhook, WaybillError } from "../../packages/client/src/Waybill.ts"

const SECRET = `whsec_${Buffer.from("a secret of twenty-four b").toString("base64")}`
const OTHER = `whsec_${Buffer.from("another secret of 24 byte").toString("base64")}`
const BODY = JSON.stringify({ id: "evt_1", type: "email.delivered", data: { subject: "Grüße" } })
const NOW = Math.floor(Date.now() / 1000)

const headersOf = (secrets: ReadonlyArray<string>, body = BODY, at = NOW) => ({
  "webhook-id": "evt_1",
  "webhook-timestamp": `${at}`,
  "webhook-signature": signatures({ id: "evt_1", body, secrets }, at),
})
const isRefused = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => false,
    (error: unknown) => error instanceof WaybillError,
  )

describe("webhook signature", () => {
  it("a signature is verified by the client, by standardwebhooks and by svix", async () => {
    const headers = headersOf([SECRET])
    assert.strictEqual((await verifyWebhook(BODY, headers, SECRET)).id, "evt_1")
    assert.deepStrictEqual(new Standard(SECRET).verify(BODY, headers), JSON.parse(BODY))
    assert.doesNotThrow(() => new Svix(SECRET).verify(BODY, headers))
    assert.throws(() => new Svix(OTHER).verify(BODY, headers))
  })

  it("both secrets verify during a rotation", async () => {
    const headers = headersOf([OTHER, SECRET])
    for (const secret of [SECRET, OTHER]) {
      assert.strictEqual((await verifyWebhook(BODY, headers, secret)).id, "evt_1")
      assert.deepStrictEqual(new Standard(secret).verify(BODY, headers), JSON.parse(BODY))
    }
  })

  it("verification fails for another body, another secret, an old call and missing headers", async () => {
    assert.isTrue(await isRefused(verifyWebhook(BODY.replace("evt_1", "evt_2"), headersOf([SECRET]), SECRET)))
    assert.isTrue(await isRefused(verifyWebhook(BODY, headersOf([SECRET]), OTHER)))
    assert.isTrue(await isRefused(verifyWebhook(BODY, headersOf([SECRET], BODY, NOW - 600), SECRET)))
    assert.isTrue(await isRefused(verifyWebhook(BODY, {}, SECRET)))
    assert.isTrue(await isRefused(verifyWebhook(BODY, new Headers(), SECRET)))
  })
})
