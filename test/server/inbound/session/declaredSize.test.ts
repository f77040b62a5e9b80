import type { AccountId } from "@waybill/domain/values/Id"
import * as RateWindows from "@waybill/store/admission/RateWindows"
import { Effect, Layer } from "effect"
import * as InboundMail from "../../../../apps/server/src/smtp/InboundMail.ts"
import type { ListenerLimits } from "../../../../apps/server/src/smtp/ListenerLimits.ts"
import * as MailListener from "../../../../apps/server/src/smtp/MailListener.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { dnsZones } from "../../../support/mail/dnsZones.ts"
import { HttpWorld, signUp } from "../../../support/world/HttpWorld.ts"
import * as World from "../../../support/world/World.ts"
import * as Smtp from "../../smtp/support.ts"

const MIB = 1024 * 1024
const OPTIONS = { days: 30, name: "mx.waybill.test" }
const { domain, secretKey } = World.RETURN_PATH

/** A client that names a recipient of a mail of a size, and hears the reply to each command. */
const client = Effect.fnUntraced(function* (maxBytes = 25 * MIB, limits: Partial<ListenerLimits> = {}) {
  const port = yield* MailListener.listen({
    host: "127.0.0.1",
    port: 0,
    name: OPTIONS.name,
    returnPath: { domain, secretKeys: [secretKey] },
    inbound: InboundMail.make({ ...OPTIONS, maxBytes }),
    limits,
  })
  const raw = yield* Smtp.raw(port)
  yield* Effect.promise(() => raw.lines("EHLO mx.example.org"))
  return (size: number, to: string) =>
    Effect.promise(async () => {
      await raw.say("RSET")
      const first = await raw.say(`MAIL FROM:<ana@example.org> SIZE=${size}`)
      return first.startsWith("250") ? raw.say(`RCPT TO:<${to}>`) : `MAIL ${first}`
    })
})

layer(HttpWorld.layer().pipe(Layer.provideMerge(dnsZones({}))), { excludeTestServices: true })(
  "a mail whose size is declared",
  (it) => {
    it.effect("is refused before its content if it is larger than is received", function* () {
      yield* signUp({ domains: ["size.test"] })
      const named = yield* client()
      assert.match(yield* named(25 * MIB, "hi@size.test"), /^250 /u)
      assert.match(yield* named(25 * MIB + 1, "hi@size.test"), /^552 5\.3\.4 .*26214400 bytes/u)
      assert.match(yield* named(MailListener.MAX_MESSAGE_BYTES + 1, "hi@size.test"), /^MAIL 552 5\.3\.4 /u)
      // A report may be larger, and only its beginning is kept.
      assert.match(yield* named(MailListener.MAX_MESSAGE_BYTES, `fbl@${domain}`), /^250 /u)
      assert.match(yield* named(25 * MIB + 1, "hi@nobody.test"), /^550 5\.1\.1 /u)
    })

    it.effect("is put off before its content if the account has no space for it today", function* () {
      const { account } = yield* signUp({ domains: ["full.test"] })
      const named = yield* client()
      const most = InboundMail.MAX_BYTES_PER_DAY / 1024
      const taken = most - 10 * 1024
      yield* RateWindows.takeOfDay(`${account as AccountId}/inbound`, taken, most)
      assert.match(yield* named(10 * MIB, "hi@full.test"), /^250 /u)
      assert.match(yield* named(10 * MIB + 1, "hi@full.test"), /^452 4\.2\.2 /u)
      // Nothing was taken for mail that has not come.
      assert.strictEqual(yield* RateWindows.takenOfDay(`${account}/inbound`), taken)
    })

    it.effect("is put off before its content if the process has no space for it now", function* () {
      yield* signUp({ domains: ["held.test"] })
      const maxMessageBytes = 2 * InboundMail.MAX_BYTES_HELD
      const named = yield* client(maxMessageBytes, { maxMessageBytes })
      assert.match(yield* named(InboundMail.MAX_BYTES_HELD, "hi@held.test"), /^250 /u)
      assert.match(yield* named(InboundMail.MAX_BYTES_HELD + 1, "hi@held.test"), /^452 4\.3\.1 /u)
      // It is no guess of an address, however often it is tried.
      for (let nth = 0; nth < 25; nth++) yield* named(InboundMail.MAX_BYTES_HELD + 1, "hi@held.test")
      assert.match(yield* named(MIB, "hi@held.test"), /^250 /u)
    })
  },
)
