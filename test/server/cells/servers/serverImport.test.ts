import * as Team from "@waybill/domain/account/Team"
import type * as Address from "@waybill/domain/values/Address"
import type { AccountId } from "@waybill/domain/values/Id"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Sql } from "@waybill/store/postgres/Sql"
import * as Cells from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Effect, Exit, Redacted } from "effect"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { id } from "../../../support/history.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import * as World from "../../../support/world/World.ts"

const NOW = "2026-11-21T09:00:00.000Z" as Timestamp.Timestamp

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(path.join(tmpdir(), "waybill-import-"))),
  (made) => Effect.promise(() => rm(made, { recursive: true })),
)

/** Runs a command on a database that must succeed, and returns what it printed. */
const commandOn = ({ url }: Database.Database, input = "") =>
  Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
    const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE, WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }
    const { errors, exit, output } = yield* CommandLine.typeInto(env, input, ...words)
    assert.isTrue(Exit.isSuccess(exit), `${output}\n${errors}`)
    return output
  })

interface Line {
  readonly event?: { readonly account_id: string; readonly event_id: string }
  readonly cursor?: string
}

const followed = (output: string) => {
  const lines = output.split("\n").map((line) => JSON.parse(line) as Line)
  return {
    ids: lines.flatMap(({ event }) => (event === undefined ? [] : [event.event_id])),
    cursor: lines.at(-1)?.cursor,
  }
}

layer(World.layer, { excludeTestServices: true })("an import into cells with servers of their own", (it) => {
  it.effect(
    "gives each account one of them, goes on where a server was behind, and leaves positions that later events follow",
    function* () {
      const { commit } = yield* EventStore
      for (let nth = 0; nth < 4; nth++) {
        const account_id = yield* World.account()
        const invited = { user_id: id("UserId"), email: `ana${nth}@acme.test` as Address.Address, name: "Ana" }
        const team = { account_id, stream_id: Team.STREAM_ID }
        yield* commit(Team, team, Team.invite(NOW, { ...invited, role: "owner" as const }))
        yield* World.key(account_id)
        yield* World.send(yield* World.verifiedDomain("acme.test", account_id))
      }
      const at = yield* folder
      const file = path.join(at, "log.jsonl")
      yield* commandOn(yield* Database.Fresh)("events", "export", file)
      const exported = yield* Effect.promise(() => readFile(file, "utf8"))
      const events = exported.trim().split("\n").slice(1, -1)
      const there = yield* Database.freshDatabase
      const run = commandOn(there)
      yield* run("migrate")
      const server = yield* CellServers.make
      yield* commandOn(there, Redacted.value(server.url()))("cells", "add", "cell_k", "--url", "-")
      const first = JSON.parse((yield* run("events", "import", file, "--json")).split("\n").at(-1) ?? "")
      assert.deepInclude(first, { events: events.length, already_there: 0, users: 4 })
      yield* Effect.gen(function* () {
        const sql = yield* Sql
        const count = (cell: string) =>
          inCell(
            cell,
            Effect.map(sql`SELECT DISTINCT account_id FROM events`, ({ length }) => length),
          )
        assert.deepStrictEqual([yield* count("public"), yield* count("cell_k")], [2, 2])
        // As after an import that ended between the two servers.
        yield* inCell("cell_k", sql`DELETE FROM events WHERE position > (SELECT min(position) FROM events)`)
        const again = JSON.parse((yield* run("events", "import", file, "--json")).split("\n").at(-1) ?? "")
        assert.isTrue(again.already_there > 0 && again.already_there < events.length)
        const all = followed(yield* run("events", "follow", "--once"))
        assert.deepStrictEqual(
          all.ids.toSorted(),
          events.map((line): string => JSON.parse(line).event.event_id).toSorted(),
        )
        const { ofKey } = yield* Cells.Cells
        for (const cell of ["public", "cell_k"]) {
          const keys = yield* inCell(cell, sql<{ readonly hash: string }>`SELECT hash FROM api_keys`)
          assert.lengthOf(keys, 2)
          for (const { hash } of keys) assert.strictEqual(yield* ofKey(hash), cell)
          const [account] = yield* inCell(
            cell,
            sql<{ readonly account_id: AccountId }>`SELECT account_id FROM accounts`,
          )
          if (account !== undefined) yield* World.key(account.account_id)
        }
        const more = followed(yield* run("events", "follow", "--once", "--after", all.cursor ?? ""))
        assert.lengthOf(more.ids, 2)
        assert.isTrue(more.ids.every((id) => !all.ids.includes(id)))
        yield* run("projections", "verify", "email_log")
        const copy = path.join(at, "copy.jsonl")
        yield* run("events", "export", copy)
        const copied = (yield* Effect.promise(() => readFile(copy, "utf8"))).trim().split("\n").slice(1, -1)
        assert.deepStrictEqual(copied.slice(0, events.length), events)
        assert.lengthOf(copied, events.length + 2)
      }).pipe(Effect.provide(World.services(there.url, 4)))
    },
    { timeout: 600_000 },
  )
})
