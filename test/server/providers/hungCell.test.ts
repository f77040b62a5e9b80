import type { EmailId } from "@waybill/domain/values/Id"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Databases from "@waybill/store/routing/Databases"
import * as ProviderEvents from "@waybill/store/providers/ProviderEvents"
import { Effect, Exit, Scope } from "effect"
import * as ReturnPathKeys from "../../../apps/server/src/installation/ReturnPathKeys.ts"
import { readCall } from "../../../apps/server/src/providers/formats/readCall.ts"
import { findMessages } from "../../../apps/server/src/providers/findMessages.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as Calls from "./calls.ts"
import { makeHook, setUp } from "./support.ts"
import { lockTables } from "../cells/support.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })("events of a provider", (it) => {
  it.effect("of a cell that hangs are asked for again, and those of other cells are recorded", function* () {
    yield* CellSchema.make("cell_b")
    const { mail } = yield* setUp()
    const { id, numbers, send } = yield* makeHook("sendgrid")
    const known = yield* mail("ana@example.org")
    const lock = yield* Scope.fork(yield* Effect.scope)
    yield* Scope.provide(lockTables("cell_b", "provider_messages"), lock)
    const unknown = { ...known.about("delivered"), messageId: "", ref: "a-ref-of-no-message", id: "u" }
    const about = [known.about("delivered"), unknown, { ...unknown, id: "v" }]
    const body = about.flatMap((each) => Calls.BODIES.sendgrid(each) as ReadonlyArray<unknown>)
    const call = send(Calls.SIGNERS.sendgrid(body, Date.now()))
    const refused = yield* call
    assert.strictEqual(refused.status, 503)
    assert.isDefined(refused.headers.get("retry-after") ?? undefined)
    assert.strictEqual((yield* known.log).status, "delivered")
    assert.lengthOf(yield* ProviderEvents.unmatched(id, 10), 0)
    assert.deepInclude(yield* numbers, { recorded: 1, unmatched: 0 })
    yield* Scope.close(lock, Exit.void)
    assert.strictEqual((yield* call).status, 200)
    assert.lengthOf(yield* ProviderEvents.unmatched(id, 10), 2)
  })
  it.effect("are asked for in no cell when their return path says whose they are, unless it is forged", function* () {
    const { account, mail } = yield* setUp()
    const message = yield* mail("ana@example.org")
    const key = yield* ReturnPathKeys.returnPathKey
    const path = ReturnPath.make(key, "x.test", {
      account_id: account,
      emailId: message.id as EmailId,
      recipientIndex: 0,
    })
    const lock = yield* Scope.fork(yield* Effect.scope)
    yield* Scope.provide(lockTables("cell_b", "provider_messages"), lock)
    const find = Effect.fnUntraced(function* (waybill: string) {
      const about = { ...message.about("delivered"), ref: "a-ref-of-no-message" }
      const call = Calls.BODIES.postmark(about) as Readonly<Record<string, unknown>>
      const [event = assert.fail()] = readCall("postmark", { ...call, Metadata: { waybill } }).events
      const silent = new Set<string>()
      const found = yield* Effect.provideService(
        Effect.map(findMessages([event]), (of) => of(event)),
        Databases.Silent,
        silent,
      )
      return { found, silent: [...silent] }
    })
    const [localPart = ""] = path.split("@")
    const { found, silent } = yield* find(localPart)
    assert.deepStrictEqual(found, { account_id: account, email_id: message.id as EmailId })
    assert.deepStrictEqual(silent, [])
    const forged = yield* find(`${localPart.slice(0, -1)}${localPart.endsWith("a") ? "b" : "a"}`)
    assert.strictEqual(forged.found, "unanswered")
    yield* Scope.close(lock, Exit.void)
  })

  it.effect("are looked for where mail of their sender was found last, and only then in other cells", function* () {
    const { mail } = yield* setUp()
    const [first, second] = [yield* mail("ana@example.org"), yield* mail("bo@example.org")]
    const find = Effect.fnUntraced(function* (about: Calls.About) {
      return (yield* findMessages([about]))(about)
    })
    assert.isObject(yield* find(first.about("delivered")))
    yield* lockTables("cell_b", "provider_messages")
    const silent = new Set<string>()
    const found = yield* Effect.provideService(find(second.about("delivered")), Databases.Silent, silent)
    assert.isTrue(typeof found === "object" && found.email_id === second.id)
    assert.deepStrictEqual([...silent], [])
  })
})
