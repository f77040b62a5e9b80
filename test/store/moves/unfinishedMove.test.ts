import type { PgClient } from "@effect/sql-pg"
import * as Account from "@waybill/domain/account/Account"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import type { Address } from "@waybill/domain/values/Address"
import * as Cells from "@waybill/store/routing/Cells"
import * as Databases from "@waybill/store/routing/Databases"
import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as Reachable from "@waybill/store/routing/Reachable"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as UnreadReports from "@waybill/store/content/UnreadReports"
import * as DomainReports from "@waybill/store/domainreports/DomainReports"
import * as Erase from "@waybill/store/erasure/Erase"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as AccountUsage from "@waybill/store/operations/AccountUsage"
import * as CellList from "@waybill/store/operations/CellList"
import * as Conservation from "@waybill/store/operations/Conservation"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import * as Accounts from "@waybill/store/readmodels/Accounts"
import * as EmailAccounts from "@waybill/store/routing/EmailAccounts"
import * as InstanceStats from "@waybill/store/statistics/InstanceStats"
import * as TimeTravel from "@waybill/store/operations/TimeTravel"
import { Duration, Effect, Exit, Option } from "effect"
import type { EventKinds } from "@waybill/store/feed/EventKinds"
import { Sql } from "@waybill/store/postgres/Sql"
import * as NewIds from "../../../apps/server/src/process/NewIds.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"

/** The only process is the one that moves. */
const ALONE = { noticedAfter: Duration.millis(100) }
/** Lines that a move reports, one for each of its steps. */
const STEPS = 4
const BO = "bo@example.org" as Address
const erasedAs = (nth: number) => `erased-${nth}@erased.invalid` as Address

/** Moves an account to a cell, until the move dies at one of the lines that it reports. */
const moveUntil = Effect.fnUntraced(function* (
  account_id: World.SendingDomain["account_id"],
  cell: string,
  dies: number,
) {
  let line = 0
  const report = () => Effect.suspend(() => (++line === dies ? Effect.die("killed") : Effect.void))
  const exit = yield* Effect.exit(AccountMove.move(account_id, cell, { ...ALONE, report }))
  assert.isTrue(Exit.isFailure(exit), `line ${dies}`)
  yield* (yield* Cells.Cells).refresh
})

/** An account with a row for each of the readers. */
const sender = Effect.gen(function* () {
  const sql = yield* Sql
  const { commit } = yield* EventStore
  const domain = yield* World.verifiedDomain("acme.test", yield* World.account())
  const { account_id } = domain
  const message = yield* World.send(domain)
  yield* sql`UPDATE domains SET status = 'verified' WHERE account_id = ${account_id}`
  const add = Suppression.add(yield* NewIds.now, yield* NewIds.newId("SuppressionId"), BO, "manual", null)
  yield* Effect.orDie(commit(Suppression, { account_id, stream_id: Suppression.streamId(BO) }, add))
  const links = Account.changeLinks(yield* NewIds.now, false)
  yield* Effect.orDie(commit(Account, { account_id, stream_id: account_id }, links))
  const addressed = {
    id: yield* NewIds.newId("UnreadReportId"),
    account_id,
    email_id: message.stream_id,
    recipient_index: 0,
    scope: null,
    address: "192.0.2.1",
  }
  yield* Effect.orDie(UnreadReports.keep({ bytes: Buffer.from("x"), reason: "memory", addressed: [addressed] }))
  return { ...domain, message, report_id: addressed.id }
})

/** Everything that work over all cells finds. */
const look = Effect.fnUntraced(function* ({ message, report_id }: Effect.Success<typeof sender>) {
  const { url } = yield* Database.Fresh
  const { queue, unread_reports } = yield* InstanceStats.read()
  const { keys, tracked, tracking_domains } = yield* DatabaseExamination.examine(url)
  return {
    accounts: (yield* Accounts.all()).rows.map(({ id }) => id),
    used: (yield* AccountUsage.accounts("2026-11")).rows.map(({ emails, record }) => [record.id, emails]),
    stopped: (yield* Databases.rowsInTime(Accounts.withLinksStopped())).rows,
    histories: (yield* TimeTravel.streams(message.stream_id)).histories.map(({ events }) => events.length),
    reports: (yield* UnreadReports.list()).rows,
    report: Option.isSome(yield* UnreadReports.find(report_id)),
    targets: yield* DomainReports.targets(["acme.test"]),
    account: yield* EmailAccounts.accountOf(message.account_id.slice(0, 19), message.stream_id),
    rows: queue.map(({ kind, rows, state }) => [kind, state, rows]),
    unread_reports,
    rates: yield* InstanceStats.eventRates(Duration.minutes(30)),
    cells: (yield* CellList.list()).reduce((sum, { accounts }) => sum + (accounts ?? 0), 0),
    emails: yield* Reachable.rowsOf(Conservation.emails()),
    webhooks: yield* Reachable.rowsOf(Conservation.webhooks()),
    work: Conservation.totalWork((yield* Reachable.rowsOf(Conservation.work())).rows),
    erasable: (yield* Erase.find(BO)).changeable.length,
    examined: [keys.map(({ domain }) => domain), tracked, tracking_domains],
  }
})

/** Whether a cell has the address anywhere in its log and lists. */
const names = (cell: string) =>
  inCell(
    cell,
    Effect.gen(function* () {
      const sql = yield* Sql
      const [row] = yield* sql<{ readonly names: boolean }>`
        SELECT EXISTS (SELECT FROM events WHERE stream_id = ${BO} OR data::text LIKE ${`%${BO}%`})
          OR EXISTS (SELECT FROM suppressions s WHERE s::text LIKE ${`%${BO}%`}) AS names`
      return row?.names
    }),
  )

layer(World.layer, { excludeTestServices: true })("a move that is stopped", (it) => {
  it.effect("at any step shows the account once to all work over cells", function* () {
    yield* CellSchema.make("cell_b")
    const moving = yield* sender
    const before = yield* look(moving)
    assert.deepStrictEqual([before.accounts, before.cells, before.erasable], [[moving.account_id], 1, 1])
    for (let dies = 1; dies <= STEPS; dies++) {
      yield* moveUntil(moving.account_id, "cell_b", dies)
      assert.deepStrictEqual(yield* look(moving), before, `step ${dies}`)
    }
    yield* AccountMove.move(moving.account_id, "cell_b", ALONE)
    assert.deepStrictEqual(yield* look(moving), before)
  })
})

layer(World.layer, { excludeTestServices: true })("an erasure beside moves", (it) => {
  it.effect("erases an account whose move is stopped in both cells, and waits for no other", function* () {
    yield* CellSchema.make("cell_b")
    const { account_id } = yield* sender
    for (const dies of [3, 4]) {
      yield* moveUntil(account_id, "cell_b", dies)
      const { commit } = yield* EventStore
      const { accounts } = yield* Erase.erase(BO, erasedAs(dies))
      assert.deepStrictEqual([...accounts.keys()], [account_id])
      assert.deepStrictEqual([yield* names("public"), yield* names("cell_b")], [false, false])
      const add = Suppression.add(yield* NewIds.now, yield* NewIds.newId("SuppressionId"), BO, "manual", null)
      yield* Effect.orDie(commit(Suppression, { account_id, stream_id: Suppression.streamId(BO) }, add))
    }
    yield* Erase.erase(BO, erasedAs(0))
    yield* AccountMove.move(account_id, "cell_b", ALONE)
    assert.deepStrictEqual([yield* names("public"), yield* names("cell_b")], [false, false])
  })

  it.effect("and a move refuse each other", function* () {
    yield* CellSchema.make("cell_c")
    const account_id = yield* World.account()
    const report = (line: string) =>
      Effect.gen(function* () {
        if (!line.startsWith("copying")) return
        const refused = yield* Effect.flip(Erase.erase(BO, erasedAs(0)))
        assert.include(refused.message, "an account is moving")
      })
    const services = yield* Effect.context<PgClient.PgClient | EventKinds>()
    yield* AccountMove.move(account_id, "cell_c", {
      ...ALONE,
      report: (line) => Effect.provideContext(Effect.orDie(report(line)), services),
    })
  })
})
