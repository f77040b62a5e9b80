import type * as DnsFinding from "@waybill/domain/domain/DnsFinding"
import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as Domains from "@waybill/store/readmodels/Domains"
import { Duration, Effect } from "effect"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { lockTables, senderIn } from "../../server/cells/support.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"

const PUBLISHED: ReadonlyArray<DnsFinding.DnsFinding> = [
  { purpose: "dkim", host: "wb1._domainkey", status: "verified", found: [], error: null },
  { purpose: "tracking", host: "links", status: "verified", found: [], error: null },
]

/** An account with a domain whose tracking host has been found in DNS. */
const tracked = Effect.fnUntraced(function* (cell: string, name: string) {
  const { account_id, domain_id } = yield* senderIn(cell, name)
  const { commit } = yield* EventStore
  const ref = { account_id, stream_id: domain_id }
  const domain = `links.${name}` as DomainName.DomainName
  yield* Effect.orDie(commit(Domain, ref, Domain.track(yield* NewIds.now, { opens: null, clicks: null, domain })))
  assert.notInclude(yield* Domains.trackingNames(), domain)
  yield* Effect.orDie(commit(Domain, ref, DomainCheck.recordCheck(yield* NewIds.now, PUBLISHED)))
  return account_id
})

layer(World.layer, { excludeTestServices: true })("tracking hosts of accounts in cells", (it) => {
  it.effect("are known at home, which asks no cell, also after a move", function* () {
    yield* CellSchema.make("cell_b")
    yield* tracked("cell_b", "acme.dev")
    const moving = yield* tracked("public", "waybill.dev")
    yield* AccountMove.move(moving, "cell_b", { noticedAfter: Duration.millis(100) })
    yield* lockTables("cell_b", "domains")
    assert.sameMembers([...(yield* Domains.trackingNames())], ["links.acme.dev", "links.waybill.dev"])
  })
})
