import * as Cells from "@waybill/store/routing/Cells"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Sql } from "@waybill/store/postgres/Sql"
import { Effect, Exit, Redacted } from "effect"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import * as path from "node:path"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { otherClient } from "../../../support/postgres/otherClient.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as World from "../../../support/world/World.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(path.join(tmpdir(), "waybill-follow-"))),
  (made) => Effect.promise(() => rm(made, { recursive: true })),
)

const refusalOf = (name: string, url: string) =>
  Effect.map(Effect.flip(ServerCell.make(name, Redacted.make(url))), ({ message }) => message)

/** The address of the same database in other words. */
const underOtherName = (text: string): string => {
  const url = new URL(text)
  const folder = url.searchParams.get("host")
  if (folder === null) url.hostname = "localhost"
  else url.searchParams.set("host", `${folder}/.`)
  return url.href
}

/** Lets a server say that it is older: a function with the name of the built-in one comes first in the search path. */
const AS_VERSION_14 = [
  "CREATE SCHEMA older",
  `CREATE FUNCTION older.current_setting(name text) RETURNS text LANGUAGE sql STABLE AS
    $$SELECT CASE name WHEN 'server_version_num' THEN '140005' ELSE pg_catalog.current_setting(name) END$$`,
  "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = older, pg_catalog, public', current_database()); END $$",
]

const firstFirst = (a: string, b: string) => (a === "public" ? -1 : b === "public" ? 1 : a < b ? -1 : 1)

/** Runs a command about cells, on a machine that has the instance key. */
const waybill = (...words: ReadonlyArray<string>) => waybillOf("", ...words)

const waybillOf = (input: string, ...words: ReadonlyArray<string>) => command(input, "cells", ...words)

const command = Effect.fnUntraced(function* (input: string, ...words: ReadonlyArray<string>) {
  const { url } = yield* Database.Fresh
  const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE, WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }
  const { errors, exit, output } = yield* CommandLine.typeInto(env, input, ...words)
  return { isDone: Exit.isSuccess(exit), printed: output, output: `${output}\n${errors}` }
})

/** Follows the events of all cells to their end, and returns their ids and the cursor. */
const followed = Effect.fnUntraced(function* (...after: ReadonlyArray<string>) {
  const { isDone, output, printed } = yield* command("", "events", "follow", "--once", ...after)
  assert.isTrue(isDone, output)
  const lines = printed.split("\n").map((line) => JSON.parse(line))
  const ids: ReadonlyArray<string> = lines.flatMap(({ event }) => (event === undefined ? [] : [event.event_id]))
  return { ids, cursor: lines.at(-1).cursor as string }
})

layer(World.layer, { excludeTestServices: true })("commands about cells on servers of their own", (it) => {
  it.effect(
    "add, list, check and readdress a cell",
    function* () {
      const server = yield* CellServers.make
      const url = Redacted.value(server.url())
      const added = yield* waybillOf(`${url}\n`, "add", "cell_g", "--url", "-", "--json")
      assert.isTrue(added.isDone, added.output)
      assert.notInclude(added.output, new URL(url).password)
      const sql = yield* Sql
      const [stored] = yield* sql`SELECT address::text AS address FROM cells WHERE name = 'cell_g'`
      assert.notInclude(String(stored?.["address"]), new URL(url).password)
      assert.include((yield* waybill("list")).output, "cell_g  open")
      assert.isTrue((yield* waybill("check")).isDone)
      const name = "0001_waybill.sql"
      yield* inCell("cell_g", sql`DELETE FROM schema_migrations WHERE name = ${name}`)
      const older = yield* waybill("check")
      assert.isFalse(older.isDone)
      assert.include(older.output, `its schema is older than this release (pending: ${name})`)
      yield* inCell("cell_g", sql`INSERT INTO schema_migrations (name) VALUES (${name})`)
      assert.isTrue((yield* waybillOf(url, "address", "cell_g", "--url", "-")).isDone)
      yield* server.stop
      const checked = yield* waybill("check")
      assert.isFalse(checked.isDone)
      assert.include(checked.output, "cell_g")
      const { output: examined } = yield* command("", "doctor", "--json")
      assert.include(examined, "cell_g does not answer")
      assert.include(examined, "waybill cells close cell_g --lost")
      const shown = yield* waybill("address", "cell_g", "--url", "postgres://waybill:secret@127.0.0.1:1/x")
      assert.include(shown.output, "standard input")
      assert.notInclude(shown.output, "secret")
      const among = yield* waybill("address", "cell_g", "--url", "postgres://127.0.0.1:1/x?user=w&password=secret")
      assert.include(among.output, "every user of this machine can see the password")
      assert.include((yield* waybill("address", "cell_g", "--url", "-")).output, "standard input has no address")
      const both = yield* waybill("add", "cell_h", "--url", url, "--node", "10.0.0.1:5432")
      assert.include(both.output, "not both")
    },
    TIMEOUT,
  )
})

layer(World.layer, { excludeTestServices: true })("commands over the events of all servers", (it) => {
  it.effect(
    "follow and export the events of all servers, also of one that is far behind",
    function* () {
      yield* ServerCell.make("cell_i", (yield* CellServers.make).url())
      const idsIn = (cell: string) =>
        inCell(
          cell,
          Effect.flatMap(Sql, (sql) =>
            Effect.map(sql<{ readonly event_id: string }>`SELECT event_id FROM events`, (rows) =>
              rows.map(({ event_id }) => event_id),
            ),
          ),
        )
      const all = Effect.map(Effect.all([idsIn("public"), idsIn("cell_i")]), (ids) => ids.flat().toSorted())
      const behind = yield* World.accountIn("cell_i")
      const busy = yield* World.accountIn("public")
      for (let nth = 0; nth < 5; nth++) yield* World.key(busy)
      const file = path.join(yield* folder, "log.jsonl")
      const exported = Effect.gen(function* () {
        const { isDone, output } = yield* command("", "events", "export", file)
        assert.isTrue(isDone, output)
        const lines = (yield* Effect.promise(() => readFile(file, "utf8"))).trim().split("\n").slice(1, -1)
        return lines.map((line): string => JSON.parse(line).event.event_id).toSorted()
      })
      const first = yield* followed()
      assert.deepStrictEqual(first.ids.toSorted(), yield* all)
      assert.deepStrictEqual(yield* exported, yield* all)
      yield* World.key(behind)
      yield* World.key(busy)
      const more = yield* followed("--after", first.cursor)
      assert.deepStrictEqual([...first.ids, ...more.ids].toSorted(), yield* all)
      assert.deepStrictEqual((yield* followed("--after", more.cursor)).ids, [])
      assert.deepStrictEqual(yield* exported, yield* all)
      const verified = yield* command("", "projections", "verify", "email_log")
      assert.isTrue(verified.isDone, verified.output)
      assert.include(verified.output, "cell_i")
      const wrong = yield* command("", "events", "follow", "--after", "all_x")
      assert.include(wrong.output, "--after takes the cursor")
    },
    TIMEOUT,
  )
})

layer(World.layer, { excludeTestServices: true })("servers", (it) => {
  it.effect(
    "are refused in a sentence when they cannot be cells, and nothing is changed",
    function* () {
      const { names } = yield* Cells.Cells
      const before = yield* names
      const { url } = yield* Database.Fresh
      const server = yield* CellServers.make
      const text = Redacted.value(server.url())
      const web = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => web.close()),
      )
      const { port } = web.address() as { readonly port: number }
      assert.include(yield* refusalOf("cell_x", "http://127.0.0.1/x"), "begins with http")
      assert.include(yield* refusalOf("cell_x", `postgres://u:p@127.0.0.1:${port}/x`), "cannot be there")
      assert.include(yield* refusalOf("cell_x", "postgres://u:p@127.0.0.1:1/x"), "refused the connection")
      assert.include(yield* refusalOf("cell_x", Redacted.value(url)), "is not empty")
      const older = yield* CellServers.make
      const owner = yield* otherClient(older.url())
      for (const statement of AS_VERSION_14) yield* owner.query(statement)
      assert.include(
        yield* refusalOf("cell_x", Redacted.value(older.url())),
        "is PostgreSQL 14; Waybill needs 15 to 18",
      )
      const western = new URL(text)
      western.pathname = "/western"
      const admin = yield* otherClient(server.running().adminUrl)
      yield* admin.query("CREATE DATABASE western ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0")
      assert.include(yield* refusalOf("cell_x", western.href), "has the encoding LATIN1")
      yield* ServerCell.make("cell_f", server.url())
      assert.include(yield* refusalOf("cell_f", text), "there is a cell cell_f already")
      assert.include(yield* refusalOf("cell_x", text), "is the cell cell_f already")
      assert.include(yield* refusalOf("cell_x", underOtherName(text)), "is the cell cell_f already")
      const sql = yield* Sql
      const addressOf = Effect.map(sql`SELECT address FROM cells WHERE name = 'cell_f'`, ([row]) => row?.["address"])
      const address = yield* addressOf
      for (const [to, why] of [
        [`postgres://u:p@127.0.0.1:${port}/x`, "cannot be there"],
        [Redacted.value(older.url()), "is PostgreSQL 14"],
        [Redacted.value(url), "is not that of the cell"],
        ["postgres://u:p@127.0.0.1:1/x", "refused the connection"],
      ] as const) {
        const { message } = yield* Effect.flip(ServerCell.readdress("cell_f", Redacted.make(to)))
        assert.include(message, why)
      }
      assert.deepStrictEqual(yield* addressOf, address)
      yield* sql`UPDATE cells SET identity = gen_random_uuid() WHERE name = 'cell_f'`
      assert.include(yield* refusalOf("cell_x", text), "another installation")
      const moved = yield* Effect.flip(ServerCell.readdress("cell_f", server.url()))
      assert.include(moved.message, "is not that of the cell")
      const unused = yield* CellServers.make
      yield* sql`SELECT setval('cell_number', 63)`
      assert.include(yield* refusalOf("cell_x", Redacted.value(unused.url())), "63 cells were made on servers or nodes")
      const tables = (yield* otherClient(unused.url())).query("SELECT FROM pg_tables WHERE schemaname = 'public'")
      assert.lengthOf(yield* tables, 0)
      assert.deepStrictEqual(yield* names, [...before, "cell_f"].toSorted(firstFirst))
    },
    TIMEOUT,
  )
})

layer(World.layer, { excludeTestServices: true })("two commands at once", (it) => {
  it.effect(
    "that take the last number: one makes its cell, and the other one is refused and leaves its database empty",
    function* () {
      const sql = yield* Sql
      yield* sql`SELECT setval('cell_number', 62)`
      const servers = [yield* CellServers.make, yield* CellServers.make]
      const added = yield* Effect.forEach(
        servers.entries(),
        ([nth, server]) => waybillOf(Redacted.value(server.url()), "add", `cell_${nth}`, "--url", "-"),
        { concurrency: "unbounded" },
      )
      const refused = added.findIndex(({ isDone }) => !isDone)
      assert.deepStrictEqual(added.map(({ isDone }) => isDone).toSorted(), [false, true], added[0]?.output)
      assert.include(added[refused]?.output, "63 cells were made on servers or nodes")
      const loser = servers[refused]
      assert(loser !== undefined)
      const empty = yield* otherClient(loser.url())
      const left = yield* empty.query(
        `SELECT obj_description('public'::regnamespace, 'pg_namespace') AS mark,
          (SELECT count(*)::int FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS tables`,
      )
      assert.strictEqual(left[0]?.["tables"], 0)
      assert.notInclude(String(left[0]?.["mark"]), "waybill")
      const { names, refresh } = yield* Cells.Cells
      yield* refresh
      assert.deepStrictEqual(yield* names, ["public", `cell_${1 - refused}`])
    },
    TIMEOUT,
  )
})
