import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as Cells from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Sql } from "@waybill/store/postgres/Sql"
import { Cause, Duration, Effect, Exit, Redacted } from "effect"
import { createHash, randomBytes } from "node:crypto"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { homeClient } from "../../../support/postgres/otherClient.ts"
import * as World from "../../../support/world/World.ts"
import { senderIn } from "../support.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }
/** The only process is the one that moves. It waits for longer than a busy machine needs for the last rows. */
const ALONE = { noticedAfter: Duration.millis(100), longestWait: Duration.minutes(1) }
const PIECES = 40
/** Postgres stores a value of this size outside of its row. */
const PIECE_BYTES = 20_000

/** Runs work of a test when a move reports that requests wait from now on. */
const beforeFence = <R>(work: Effect.Effect<unknown, unknown, R>) =>
  Effect.map(
    Effect.context<R>(),
    (context) => (line: string) =>
      line.startsWith("waiting for the last rows")
        ? Effect.asVoid(Effect.orDie(Effect.provideContext(work, context)))
        : Effect.void,
  )

/** An account with much content that nobody uses. Returns the hashes of its pieces too. */
const largeIn = Effect.fnUntraced(function* (cell: string, domain: string) {
  const sender = yield* senderIn(cell, domain)
  const pieces = Array.from({ length: PIECES }, () => randomBytes(PIECE_BYTES))
  const hashes = pieces.map((bytes) => createHash("sha256").update(bytes).digest())
  const sql = yield* Sql
  yield* inCell(
    cell,
    sql`
      INSERT INTO content (account_id, sha256, bytes, expires_on, uses)
      SELECT ${sender.account_id}, sha256, bytes, '2099-01-01', 1
      FROM unnest(${hashes}::bytea[], ${pieces}::bytea[]) AS p(sha256, bytes)`,
  )
  return { sender, hashes: hashes.map((hash) => hash.toString("hex")) }
})

/** The uses of each piece of content of an account, and the hash of its bytes. */
const contentIn = (cell: string, account_id: string) =>
  inCell(
    cell,
    Effect.flatMap(
      Sql,
      (sql) => sql<{ readonly piece: string; readonly uses: number; readonly bytes: string }>`
        SELECT encode(sha256, 'hex') AS piece, uses, encode(sha256(bytes), 'hex') AS bytes FROM content
        WHERE account_id = ${account_id} ORDER BY sha256`,
    ),
  )

/** Lets statements wait that read content stored outside of its row, until the effect that it returns has run. */
const lockContent = Effect.fnUntraced(function* ({ running, url }: CellServers.CellServer, schema: string) {
  const admin = new URL(Redacted.value(running().adminUrl))
  admin.pathname = new URL(Redacted.value(url())).pathname
  const client = yield* homeClient(Redacted.make(admin.href))
  const [row] = yield* client.query("SELECT reltoastrelid::regclass AS name FROM pg_class WHERE oid = $1::regclass", [
    `${schema}.content`,
  ])
  return {
    lock: Effect.andThen(client.query("BEGIN"), client.query(`REINDEX TABLE ${String(row?.["name"])}`)),
    release: client.query("ROLLBACK"),
  }
})

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("the last step between servers", (it) => {
  it.effect(
    "reads no content that nobody has changed since it was compared",
    function* () {
      const servers = { cell_b: yield* CellServers.make, cell_c: yield* CellServers.make }
      for (const [name, server] of Object.entries(servers)) yield* ServerCell.make(name, server.url())
      const { sender } = yield* largeIn("cell_b", "large.test")
      const before = yield* contentIn("cell_b", sender.account_id)
      const locks = yield* Effect.forEach(Object.entries(servers), ([name, server]) =>
        Effect.flatMap(Cells.schemaOf(name), (schema) => lockContent(server, schema)),
      )
      const locking = Effect.forEach(locks, ({ lock }) => lock)
      const report = yield* beforeFence(locking)
      // Its rows in the old cell are deleted with their content.
      const releasing = (line: string) =>
        line.startsWith("the account is in") ? Effect.forEach(locks, ({ release }) => release) : Effect.void
      const moved = yield* AccountMove.move(sender.account_id, "cell_c", {
        ...ALONE,
        report: (line) => Effect.andThen(report(line), Effect.asVoid(releasing(line))),
      })
      assert.isBelow(moved.rows_while_waiting, PIECES)
      assert.deepStrictEqual(yield* contentIn("cell_c", sender.account_id), before)
    },
    TIMEOUT,
  )

  it.effect(
    "brings what has changed since, and mends copies that were damaged since",
    function* () {
      yield* ServerCell.make("cell_d", (yield* CellServers.make).url())
      const sql = yield* Sql
      const { hashes, sender } = yield* largeIn("public", "changes.test")
      const { account_id } = sender
      const [changed = "", deleted = "", damaged = "", lost = ""] = hashes
      const piece = (hash: string) => sql`account_id = ${account_id} AND sha256 = decode(${hash}, 'hex')`
      const changes = Effect.gen(function* () {
        yield* sql`UPDATE content SET bytes = '\\x01', uses = 7 WHERE ${piece(changed)}`
        yield* sql`DELETE FROM content WHERE ${piece(deleted)}`
        yield* inCell("cell_d", sql`UPDATE content SET bytes = '\\x02' WHERE ${piece(damaged)}`)
        yield* inCell("cell_d", sql`DELETE FROM content WHERE ${piece(lost)}`)
        const sent = yield* World.send(sender)
        return { sent, content: yield* contentIn("public", account_id) }
      })
      let made: Effect.Success<typeof changes> | undefined
      const report = yield* beforeFence(Effect.tap(changes, (result) => Effect.sync(() => void (made = result))))
      const moved = yield* AccountMove.move(account_id, "cell_d", { ...ALONE, report })
      assert.isAtLeast(moved.rows_while_waiting, 3)
      assert.isBelow(moved.rows_while_waiting, PIECES)
      assert.deepStrictEqual(yield* contentIn("cell_d", account_id), made?.content)
      assert.deepStrictEqual(made && (yield* World.timeline(made.sent)), ["EmailQueued"])
    },
    TIMEOUT,
  )

  it.effect(
    "refuses to end if a copy that was equal is changed beside the last rows",
    function* () {
      yield* ServerCell.make("cell_e", (yield* CellServers.make).url())
      const sql = yield* Sql
      const { hashes, sender } = yield* largeIn("public", "refused.test")
      const { account_id } = sender
      const spoil = Effect.gen(function* () {
        const spoilOther = `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          UPDATE content SET uses = uses + 1 WHERE sha256 = decode('${hashes[0]}', 'hex'); RETURN NULL; END $$`
        const onEvents = "CREATE TRIGGER spoil AFTER INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION spoil()"
        for (const definition of [spoilOther, onEvents]) yield* inCell("cell_e", sql.unsafe(definition))
        yield* World.send(sender)
      })
      const report = yield* beforeFence(spoil)
      const exit = yield* Effect.exit(AccountMove.move(account_id, "cell_e", { ...ALONE, report }))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "the copies differ in content")
      yield* (yield* Cells.Cells).refresh
      assert.strictEqual(yield* (yield* Cells.Cells).of(account_id), "public")
      yield* World.send(sender)
      yield* inCell("cell_e", sql`DROP TRIGGER spoil ON events`)
      assert.strictEqual((yield* AccountMove.move(account_id, "cell_e", ALONE)).to, "cell_e")
    },
    TIMEOUT,
  )
})
