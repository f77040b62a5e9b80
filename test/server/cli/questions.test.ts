import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { Address } from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Clock, Effect, Exit } from "effect"
import * as OutputStyle from "../../../apps/server/src/cli/OutputStyle.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true })("waybill logs", (it) => {
  const terminal = Effect.provideService(OutputStyle.StandardOutput, { columns: 80, hasColours: false })

  it.effect("reads plain words that find nothing, or are too many, as a search", function* () {
    const { call, key, send, world } = yield* signUp({ domains: ["acme.test"] })
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
    const type = (...words: ReadonlyArray<string>) => CommandLine.typeWith(env, ...words)
    yield* send({ to: "ana@example.org" })
    yield* send({ to: "bo@example.org", subject: "A subject that is not of the other email" })
    const question = yield* terminal(type("logs", "queued today", "--limit", "1"))
    assert.match(question.output, /^created [^]*queued[^]*\nOnly the first of 2 is shown; --limit shows more\.$/u)
    assert.strictEqual(question.errors, "Read as is:queued since:today")
    const unread = yield* type("emails", "list", "why did ana OR bo get it")
    assert.match(unread.errors, /^“OR” is searched as text: .*\nwaybill: .* at most 5 words/u)
    const nobody = yield* terminal(type("logs", "why did nobody not get it"))
    assert.deepStrictEqual([nobody.output, nobody.exit], ["No emails match.", Exit.void])
    assert.strictEqual(
      nobody.errors,
      "Read as to:^nobody anyone:queued,sent,deferred,bounced,failed,suppressed,canceled",
    )
    // One that finds nothing in its states says in which the emails are.
    const inStates = yield* terminal(type("logs", "why was ana's mail never delivered"))
    assert.strictEqual(inStates.output, "No emails match.")
    assert.match(inStates.errors, /\nIn any state: 1 queued\. List them: waybill logs 'ana'$/u)
    const noHits = yield* type("logs", "is:bounced", "subject:no-such")
    assert.deepStrictEqual([noHits.output, noHits.errors], ["id  created_at  status  to  subject", "No emails match."])
    yield* call("POST", "/v1/api-keys", { name: "Billing service", scopes: ["email:send"] })
    const byKey = yield* terminal(type("logs", "sent by billing service"))
    assert.strictEqual(byKey.errors, 'Read as key:"Billing service"')
    const plurals = yield* terminal(type("logs", "subjects"))
    assert.match(plurals.output, /A subject that/u)
    assert.strictEqual(plurals.errors, "Read as subject")
    const long = yield* type("logs", "which of my emails are queued since today please", "--json")
    assert.lengthOf(JSON.parse(long.output), 2)
    assert.strictEqual(long.errors, "Read as is:queued since:today")
    assert.strictEqual((yield* type("logs", "queued today", "--json")).errors, "")
  })

  it.effect("says what a search for an outcome leaves out, and tries the words of a question first", function* () {
    const { account: account_id, key, send, world } = yield* signUp({ domains: ["acme.test"] })
    const env = { WAYBILL_URL: world.url, WAYBILL_KEY: key, XDG_CONFIG_HOME: NOWHERE }
    const type = (...words: ReadonlyArray<string>) => CommandLine.typeWith(env, ...words)
    const store = yield* EventStore
    const at = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
    const words = {
      code: 550,
      enhanced_code: null,
      response: null,
      mx: null,
      tls: null,
      duration_ms: 1,
      attempt: 1,
      category: null,
    }
    const partly = yield* send({ to: ["ana@example.org", "bo@example.org"], subject: "Invoice 2026-259" })
    yield* store.commit(
      Email,
      { account_id, stream_id: partly },
      EmailReport.record(at, [
        { _tag: "Delivered", recipient: "ana@example.org" as Address, words },
        { _tag: "Bounced", recipient: "bo@example.org" as Address, words },
      ]),
    )
    const left = "1 email bounced for some recipients only, not listed here. anyone:bounced finds them too."
    for (const command of [
      ["logs", "is:bounced"],
      ["emails", "list", "--status", "bounced"],
    ])
      assert.include((yield* terminal(type(...command))).errors, left)
    assert.notInclude((yield* terminal(type("logs", "is:bounced", "subject:other"))).errors, left)
    assert.strictEqual((yield* terminal(type("logs", "who bounced"))).errors, "Read as anyone:bounced")
    yield* send({ to: "ana@example.org", metadata: { ticket: "9108" } })
    for (const [question, reading] of [
      ["did bo get invoice 2026-259", "to:^bo$ invoice 2026-259"],
      ["did ana get ticket 9108", "to:^ana metadata:ticket=9108"],
    ] as const)
      assert.strictEqual((yield* terminal(type("logs", question))).errors, `Read as ${reading}`)
  })
})
