import type * as Id from "@waybill/domain/values/Id"
import * as ProviderHooks from "@waybill/store/providers/ProviderHooks"
import * as ProviderMessages from "@waybill/store/providers/ProviderMessages"
import { Secrets } from "@waybill/store/secrets/Secrets"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { Provider } from "../../../apps/server/src/providers/formats/ProviderEvent.ts"
import * as HookAddress from "../../../apps/server/src/providers/HookAddress.ts"
import { assert } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"
import * as Calls from "./calls.ts"

export const SECRETS: { readonly [P in Provider]: string } = {
  ses: Calls.TOPIC,
  postmark: "waybill:correct horse",
  mailgun: Calls.MAILGUN_KEY,
  sendgrid: Calls.SENDGRID_KEY,
  sparkpost: "waybill:battery staple",
  resend: Calls.RESEND_SECRET,
}

/** Adds a hook, as `waybill providers add` does. */
export const makeHook = Effect.fnUntraced(function* (provider: Provider) {
  const { request } = yield* HttpWorld
  const [key = new Uint8Array()] = yield* HookAddress.hookKeys
  const token = HookAddress.makeToken(key, provider)
  const id = `prv_${randomBytes(8).toString("hex")}`
  yield* (yield* Secrets).seal(HookAddress.secretRef(id), Buffer.from(SECRETS[provider]))
  assert.isTrue(yield* ProviderHooks.add({ id, provider, name: "t", token_hash: HookAddress.hashOf(token) }))
  const path = `/hooks/${provider}/${token}`
  const send = ({ headers, raw }: Calls.SignedCall) => request("POST", path, { raw, headers })
  return {
    id,
    path,
    send,
    /** Sends the documented call about an event. */
    report: (about: Calls.About) =>
      send(Calls.SIGNERS[provider](Calls.BODIES[provider](about), about.at, SECRETS[provider])),
    numbers: Effect.map(ProviderHooks.list(), (hooks) => hooks.find((each) => each.id === id)),
  }
})

/** An account that has handed mail to a provider. */
export const setUp = Effect.fnUntraced(function* () {
  const customer = yield* signUp({ domains: ["acme.test"] })
  const now = Date.now()
  const mail = Effect.fnUntraced(function* (to: string) {
    const id = yield* customer.send({ to })
    const ref = randomBytes(12).toString("hex")
    yield* ProviderMessages.keep([ref], { account_id: customer.account, email_id: id as Id.EmailId })
    const about = (kind: Calls.About["kind"], at = now): Calls.About => ({
      kind,
      to,
      messageId: `<${id}@acme.test>`,
      ref,
      id: `${ref} ${kind}`,
      at,
    })
    return { id, ref, about, log: customer.log(id) }
  })
  return { ...customer, mail }
})
