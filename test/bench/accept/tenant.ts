import * as Account from "@waybill/domain/account/Account"
import * as Scope from "@waybill/domain/account/Scope"
import * as CellName from "@waybill/store/routing/CellName"
import * as Placement from "@waybill/store/cells/Placement"
import * as Database from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as InstanceKey from "@waybill/store/secrets/InstanceKey"
import * as SealedAddresses from "@waybill/store/secrets/SealedAddresses"
import { Effect, Layer, Option, Redacted } from "effect"
import * as NewApiKeys from "../../../apps/server/src/operate/NewApiKeys.ts"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { alone } from "../../support/postgres/Database.ts"

/** Instance key of the processes of a benchmark, and the services that open addresses of cells with it. */
export const INSTANCE_KEY = Buffer.alloc(32, 7).toString("base64")
export const cellKeys = SealedAddresses.layer.pipe(
  Layer.provide(
    InstanceKey.InstanceKey.layer({ file: "/nonexistent", text: Option.some(Redacted.make(INSTANCE_KEY)) }),
  ),
)

/** Creates an account with the highest limits, and its keys. */
export const tenant = (url: Redacted.Redacted, keys: number, cell = CellName.FIRST): Promise<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const store = yield* EventStore
    const account_id = yield* NewIds.newId("AccountId")
    yield* Placement.assign(account_id, cell)
    const ref = { account_id, stream_id: account_id }
    yield* store.commit(Account, ref, Account.create(yield* NewIds.now, account_id, "Acme", "business"))
    const granted = {
      ...Account.NONE_GRANTED,
      send: Account.MAX_GRANTED_PER_MINUTE,
      logs: Account.MAX_GRANTED_PER_MINUTE,
    }
    yield* store.commit(Account, ref, Account.changeLimits(yield* NewIds.now, granted))
    const command = { name: "load", scopes: [...Scope.ALL], domain: null, allowed_ips: [], expires_at: null }
    return yield* Effect.forEach(
      Array.from({ length: keys }),
      () => Effect.map(NewApiKeys.createApiKey(account_id, null, command), ({ secret }) => secret),
      { concurrency: "unbounded" },
    )
  }).pipe(
    Effect.provide(
      EventStore.layer().pipe(Layer.provide(alone), Layer.provideMerge(Database.layer({ url, connections: 2 }))),
    ),
    Effect.provide(cellKeys),
    Effect.runPromise,
  )
