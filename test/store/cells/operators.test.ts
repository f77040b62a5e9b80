import * as Account from "@waybill/domain/account/Account"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type { Address } from "@waybill/domain/values/Address"
import * as Availability from "@waybill/store/availability/Availability"
import type { Problem } from "@waybill/store/availability/Problem"
import * as Cells from "@waybill/store/routing/Cells"
import * as Databases from "@waybill/store/routing/Databases"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as Reachable from "@waybill/store/routing/Reachable"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import * as DomainReports from "@waybill/store/domainreports/DomainReports"
import * as Erase from "@waybill/store/erasure/Erase"
import * as AccountUsage from "@waybill/store/operations/AccountUsage"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import * as Readiness from "@waybill/store/operations/Readiness"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as EmailAccounts from "@waybill/store/routing/EmailAccounts"
import { Secrets } from "@waybill/store/secrets/Secrets"
import * as SourcePools from "@waybill/store/sources/SourcePools"
import * as CellList from "@waybill/store/operations/CellList"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import * as TimeTravel from "@waybill/store/operations/TimeTravel"
import * as Users from "@waybill/store/users/Users"
import { Cause, Duration, Effect, Option } from "effect"
import { Sql } from "@waybill/store/postgres/Sql"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import { dmarcHeading } from "../../support/mail/aggregateMail.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import { memberOf } from "../../server/cells/support.ts"

const CELLS = ["public", "cell_b"] as const

/** An account with a verified domain and a message in each of two cells. */
const sendersInBoth = Effect.gen(function* () {
  const { names } = yield* Cells.Cells
  if (!(yield* names).includes("cell_b")) yield* CellSchema.make("cell_b")
  return yield* Effect.forEach(CELLS, (cell) =>
    Effect.gen(function* () {
      const account_id = yield* World.accountIn(cell)
      const domain = yield* Databases.ofAccount(account_id, World.verifiedDomain("acme.test", account_id))
      const message = yield* World.send(domain)
      return { ...domain, cell, message }
    }),
  )
})

const idsOf = (rows: ReadonlyArray<{ readonly account_id: string }>) => rows.map(({ account_id }) => account_id)

layer(World.layer, { excludeTestServices: true })("work of operators over cells", (it) => {
  it.effect("lists the accounts of all cells, with usage and cell", function* () {
    const senders = yield* sendersInBoth
    const expected = senders.map(({ account_id, cell }) => [account_id, cell])
    const listed = (yield* Accounts.all()).rows.map(({ cell, id }) => [id, cell])
    const used = (yield* AccountUsage.accounts("2026-11")).rows.map(({ cell, record }) => [record.id, cell])
    for (const each of expected) {
      assert.deepInclude(listed, each)
      assert.deepInclude(used, each)
    }
  })

  it.effect("finds messages, histories and stopped links in all cells", function* () {
    const { commit } = yield* EventStore
    const senders = yield* sendersInBoth
    for (const { account_id, message } of senders) {
      assert.deepStrictEqual(
        yield* EmailAccounts.accountOf(account_id.slice(0, 19), message.stream_id),
        Option.some(account_id),
      )
      assert.deepStrictEqual(idsOf((yield* TimeTravel.streams(message.stream_id)).histories), [account_id])
      yield* Effect.orDie(
        commit(Account, { account_id, stream_id: account_id }, Account.changeLinks(yield* NewIds.now, false)),
      )
    }
    assert.includeMembers([...(yield* Databases.rowsInTime(Accounts.withLinksStopped())).rows], idsOf(senders))
  })

  it.effect("finds members in all cells by their address", function* () {
    const senders = yield* sendersInBoth
    const ids = yield* Effect.forEach(senders, ({ account_id }) => memberOf(account_id, "ana@acme.test"))
    assert.deepStrictEqual(
      (yield* Users.identities("ana@acme.test")).map(({ id }) => id),
      ids,
    )
    const users = (yield* Users.list()).rows.filter(({ id }) => ids.includes(id))
    assert.sameMembers(
      users.map(({ account_id }) => String(account_id)),
      idsOf(senders),
    )
  })

  it.effect("names assigned accounts and domains of all cells", function* () {
    const senders = yield* sendersInBoth
    yield* SourcePools.ensure("pool")
    for (const { account_id, domain_id } of senders) yield* SourcePools.assign({ account_id, domain_id, pool: "pool" })
    const named = (yield* SourcePools.assignments()).map(({ account, account_id, domain }) => [
      account_id,
      account,
      domain,
    ])
    assert.sameDeepMembers(
      named,
      senders.map(({ account_id }) => [account_id, "Acme", "acme.test"]),
    )
  })

  it.effect("records a domain report in the cell of each account", function* () {
    const sql = yield* Sql
    const senders = yield* sendersInBoth
    for (const cell of CELLS) yield* inCell(cell, sql`UPDATE domains SET status = 'verified'`)
    const { found: targets, missing } = yield* DomainReports.targets(["acme.test"])
    assert.deepStrictEqual(missing, [])
    assert.includeMembers(idsOf(targets), idsOf(senders))
    const seen: Array<string> = []
    const write: DomainReports.Write = (here, { account_id }) =>
      Effect.map(
        here<{ readonly n: number }>`SELECT count(*)::int AS n FROM domains WHERE account_id = ${account_id}`,
        ([row]) => (row?.n === 1 ? seen.push(account_id) : 0),
      )
    const own = targets.filter(({ account_id }) => idsOf(senders).includes(account_id))
    assert.strictEqual(yield* DomainReports.record(dmarcHeading("acme.test"), own, write), "recorded")
    assert.sameMembers(seen, idsOf(senders))
  })

  it.effect("keeps, finds and removes unread reports of all cells", function* () {
    const senders = yield* sendersInBoth
    const addressed = yield* Effect.forEach(senders, ({ account_id, message }) =>
      Effect.map(NewIds.newId("UnreadReportId"), (id) => ({
        id,
        account_id,
        email_id: message.stream_id,
        recipient_index: 0,
        scope: null,
        address: "192.0.2.1",
      })),
    )
    yield* Effect.orDie(UnreadReports.keep({ bytes: Buffer.from("x"), reason: "memory", addressed }))
    assert.sameMembers(idsOf((yield* UnreadReports.list()).rows), idsOf(senders))
    assert.strictEqual((yield* InstanceStats.read()).unread_reports, 2)
    for (const { account_id, id } of addressed) {
      assert.deepStrictEqual(idsOf((yield* UnreadReports.list(account_id)).rows), [account_id])
      assert.isTrue(Option.isSome(yield* UnreadReports.find(id)))
      yield* UnreadReports.remove(account_id, id)
    }
    assert.deepStrictEqual((yield* UnreadReports.list()).rows, [])
  })

  it.effect("adds up queues and rates, and audits every cell", function* () {
    const before = yield* InstanceStats.read()
    yield* sendersInBoth
    const { databases, queue } = yield* InstanceStats.read()
    const rowsIn = (stats: typeof before.queue) =>
      stats.flatMap(({ kind, rows }) => (kind === "delivery" ? [rows] : [])).reduce((sum, rows) => sum + rows, 0)
    assert.strictEqual(rowsIn(queue) - rowsIn(before.queue), 2)
    assert.deepStrictEqual(
      databases.map(({ is_up, name }) => ({ name, is_up })),
      [
        { name: "public", is_up: true },
        { name: "cell_b", is_up: true },
      ],
    )
    for (const { load, name } of databases) {
      assert.isAbove(load?.per_second ?? 0, 0, name)
      assert.isAtLeast(load?.waiting ?? 0, 1, name)
      assert.isAtLeast(load?.lag_s ?? -1, 0, name)
    }
    for (const { name, per_second, waiting } of yield* CellList.list())
      assert.isAtLeast(Math.min(per_second ?? 0, waiting ?? 0), 0.1, name)
    assert.isAbove((yield* InstanceStats.eventRates(Duration.minutes(1)))["EmailQueued"] ?? 0, 0)
    const audited = yield* Reachable.rowsOf(Conservation.work())
    assert.deepStrictEqual(audited.unreachable, [])
    const work = Conservation.totalWork(audited.rows)
    assert.deepStrictEqual(
      work.map(({ kind, missing, unexpected }) => [kind, missing, unexpected]),
      [
        ["delivery", [], []],
        ["domain_check", [], []],
      ],
    )
    assert.strictEqual(work[0]?.waiting, rowsIn(queue))
    const balances = yield* Reachable.rowsOf(Conservation.emails())
    const accepted = balances.rows.reduce((sum, balance) => sum + balance.accepted, 0)
    assert.strictEqual(accepted, rowsIn(queue))
  })

  it.effect("keeps secrets in the cell of their account, and rotates all", function* () {
    const sql = yield* Sql
    const sender = (yield* sendersInBoth).find(({ cell }) => cell === "cell_b")
    assert(sender !== undefined)
    const { account_id, domain_id } = sender
    const secrets = yield* Secrets
    const ref = { account_id, id: domain_id, purpose: "test" }
    yield* secrets.seal(ref, Buffer.from("seal"))
    const stored = sql`SELECT FROM secrets WHERE id = ${domain_id} AND purpose = 'test'`
    assert.strictEqual((yield* stored).length, 0)
    assert.strictEqual((yield* inCell("cell_b", stored)).length, 1)
    assert.isTrue(Option.isSome(yield* secrets.open(ref)))
    yield* inCell("cell_b", sql`UPDATE secrets SET key_id = 'unknown' WHERE purpose = 'test'`)
    assert.deepStrictEqual(yield* secrets.rotate, { resealed: 0, unreadable: 1, unreachable: [] })
    yield* secrets.remove(account_id, domain_id)
    assert.strictEqual((yield* inCell("cell_b", stored)).length, 0)
  })

  it.effect("erases an address in all cells", function* () {
    const { commit } = yield* EventStore
    const senders = yield* sendersInBoth
    const bo = "bo@example.org" as Address
    for (const { account_id } of senders) {
      const add = Suppression.add(yield* NewIds.now, yield* NewIds.newId("SuppressionId"), bo, "manual", null)
      yield* Effect.orDie(commit(Suppression, { account_id, stream_id: Suppression.streamId(bo) }, add))
    }
    assert.sameMembers(idsOf((yield* Erase.find(bo)).changeable), idsOf(senders))
    const { accounts } = yield* Erase.erase(bo, "erased-1@erased.invalid" as Address)
    assert.sameMembers([...accounts.keys()], idsOf(senders))
    assert.deepStrictEqual((yield* Erase.find(bo)).changeable, [])
  })

  it.effect("examines the domains of all cells", function* () {
    const { url } = yield* Database.Fresh
    const senders = yield* sendersInBoth
    const { keys } = yield* DatabaseExamination.examine(url)
    for (const { account_id } of senders) {
      const own = keys.filter(({ ref }) => ref.account_id === account_id)
      assert.strictEqual(own.length, 1)
      assert.isNotNull(own[0]?.sealed)
    }
  })

  it.effect("says which cells are down, and stays ready", function* () {
    yield* sendersInBoth
    const shape = (problem?: Problem): Availability.AvailabilityShape => ({
      isWatched: true,
      problem: () => problem,
      waiting: () => () => {},
      onLost: () => Effect.void,
      report: () => Effect.succeed(false),
      verify: Effect.succeed(problem),
      isAway: Effect.succeed(problem !== undefined),
    })
    const down = shape({ text: "the database does not respond", cause: Cause.empty })
    const checkWith = (first: Availability.AvailabilityShape) =>
      Effect.provideService(Readiness.check, Availability.Availability, { ...first, of: () => Effect.succeed(down) })
    assert.deepStrictEqual(yield* checkWith(shape()), { problems: [], cells_down: ["cell_b"] })
    assert.deepStrictEqual((yield* checkWith(down)).problems, ["the database does not respond"])
  })
})
