import * as Id from "@waybill/domain/values/Id"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as Members from "@waybill/store/readmodels/Members"
import * as Users from "@waybill/store/users/Users"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { randomBytes } from "node:crypto"
import * as Installation from "../../../apps/server/src/boot/service/Installation.ts"
import * as Service from "../../../apps/server/src/boot/service/Service.ts"
import * as Settings from "../../../apps/server/src/settings/Settings.ts"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"

const env = { WAYBILL_INSTANCE_KEY: randomBytes(32).toString("base64") }

const instance = Layer.unwrap(
  Effect.gen(function* () {
    const { url } = yield* Database.freshDatabase
    const settings = yield* Effect.provide(Settings.load, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
    return Layer.merge(Service.store(settings, url), Service.instance(settings))
  }),
)

layer(instance, { excludeTestServices: true, timeout: "90 seconds" })("an installation", (it) => {
  it.effect("continues after an interrupted start, and happens once", function* () {
    const id = yield* NewIds.newId("UserId")
    const left = { id, email: "owner@acme.test", name: "Owner", operator: true, created_at: yield* NewIds.now }
    yield* Users.create(left)
    const { first } = yield* Installation.ensure()
    assert.strictEqual(first?.owner.email, "owner@acme.test")
    const owner = Option.getOrThrow(yield* Members.find(Id.UserId.make(id)))
    assert.deepInclude(owner, { role: "owner", status: "active", operator: true })
    assert.deepStrictEqual(yield* Installation.ensure(), { first: undefined, hasMail: false })
    assert.strictEqual((yield* Accounts.list()).length, 1)
  })
})
