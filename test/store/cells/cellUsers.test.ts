import * as Team from "@waybill/domain/account/Team"
import type * as Address from "@waybill/domain/values/Address"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Erase from "@waybill/store/erasure/Erase"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import * as Users from "@waybill/store/users/Users"
import { Effect, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"

const NOW = "2026-11-21T09:00:00.000Z" as Timestamp.Timestamp
const EMAIL = "ana@acme.test" as Address.Address
const Store = EventStore.layer().pipe(Layer.provideMerge(Database.layerFresh))

/** An account of a cell with one member, who has joined. */
const memberIn = Effect.fnUntraced(function* (cell: string, email = EMAIL) {
  const account_id = yield* World.accountIn(cell)
  const user_id = id("UserId")
  yield* Users.create({ id: user_id, email, name: "Ana", operator: false, created_at: NOW })
  const { commit } = yield* EventStore
  const team = { account_id, stream_id: Team.STREAM_ID }
  yield* commit(Team, team, Team.invite(NOW, { user_id, email, name: "Ana", role: "owner" }))
  yield* commit(Team, team, Team.join(NOW, user_id))
  return { account_id, user_id }
})

layer(Store, { excludeTestServices: true })("users of accounts in several cells", (it) => {
  it.effect("sign in as the members that they are, and are listed with their accounts", function* () {
    yield* CellSchema.make("cell_u")
    const members = [yield* memberIn("public"), yield* memberIn("cell_u")]
    const stranger = id("UserId")
    yield* Users.create({ id: stranger, email: EMAIL, name: "Ana", operator: false, created_at: NOW })
    const identities = yield* Users.identities(EMAIL)
    assert.deepStrictEqual(identities.map((each) => each.id).toSorted(), members.map((each) => each.user_id).toSorted())
    const accounts = new Map((yield* Users.list()).rows.map((user) => [user.id, user.account_id]))
    assert.deepStrictEqual(
      [...members.map(({ user_id }) => user_id), stranger].map((user) => accounts.get(user)),
      [...members.map(({ account_id }) => account_id), null],
    )
  })

  it.effect("are deleted with an invitation that was refused, and only then", function* () {
    const { user_id } = yield* memberIn("cell_u")
    yield* Users.discard(user_id)
    assert.isTrue((yield* Users.find(user_id))._tag === "Some")
    const uninvited = id("UserId")
    yield* Users.create({ id: uninvited, email: EMAIL, name: "Ana", operator: false, created_at: NOW })
    yield* Users.discard(uninvited)
    assert.isTrue((yield* Users.find(uninvited))._tag === "None")
  })

  it.effect("stay members of the cells in which an address is not erased", function* () {
    const email = "eva@acme.test" as Address.Address
    const { user_id } = yield* memberIn("cell_u", email)
    yield* Erase.erase(email, "erased@acme.test" as Address.Address)
    assert.isTrue((yield* Users.find(user_id))._tag === "Some")
    yield* inCell("cell_u", Erase.erase(email, "erased@acme.test" as Address.Address))
    assert.isTrue((yield* Users.find(user_id))._tag === "Some")
  })

  it.effect("have assignments of source addresses with the names of their accounts", function* () {
    yield* SourcePools.ensure("bulk")
    const accounts = [yield* World.accountIn("public"), yield* World.accountIn("cell_u")]
    for (const account_id of accounts) yield* SourcePools.assign({ account_id, domain_id: "", pool: "bulk" })
    const named = (yield* SourcePools.assignments()).filter(({ account }) => account !== null)
    assert.deepStrictEqual(named.map(({ account_id }) => account_id).toSorted(), accounts.toSorted())
  })
})
