import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as MoveSteps from "@waybill/store/moves/MoveSteps"
import { Sql } from "@waybill/store/postgres/Sql"
import { Cells } from "@waybill/store/routing/Cells"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Duration, Effect, Exit, Redacted } from "effect"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as Database from "../../../support/postgres/Database.ts"
import * as CommandLine from "../../../support/process/CommandLine.ts"
import * as World from "../../../support/world/World.ts"
import { countIn, senderIn } from "../support.ts"

/** Each test starts servers. */
const TIMEOUT = { timeout: 600_000 }
const ENDED = { moving_to: null, step: null, left_cell: null }

/** Runs a command on a machine that has the instance key. */
const waybill = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { url } = yield* Database.Fresh
  const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE, WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }
  const { errors, exit, output } = yield* CommandLine.typeWith(env, ...words)
  return { isDone: Exit.isSuccess(exit), printed: `${output}\n${errors}` }
})

const done = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { isDone, printed } = yield* waybill(...words)
  assert.isTrue(isDone, printed)
  return printed
})

const refused = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { isDone, printed } = yield* waybill(...words)
  assert.isFalse(isDone, printed)
  return printed
})

/** Moves an account until the mover reports a line that begins so, at which it dies. */
const moveUntil = (account_id: World.SendingDomain["account_id"], to: string, line: string) =>
  Effect.exit(
    AccountMove.move(account_id, to, {
      noticedAfter: Duration.millis(100),
      report: (said) => (said.startsWith(line) ? Effect.die("killed") : Effect.void),
    }),
  )

const entryOf = (account_id: string) =>
  Effect.flatMap(Sql, (sql) =>
    Effect.map(
      sql`SELECT cell, moving_to, step, left_cell FROM account_cells WHERE account_id = ${account_id}`,
      ([row]) => row,
    ),
  )

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("a cell whose server is lost", (it) => {
  it.effect(
    "that an account was moving to is removed, and the account goes on where it is",
    function* () {
      const [own, lost] = [yield* CellServers.make, yield* CellServers.make]
      yield* ServerCell.make("cell_b", own.url())
      yield* ServerCell.make("cell_c", lost.url())
      const sender = yield* senderIn("cell_b", "coming.test")
      const { account_id } = sender
      yield* World.send(sender)
      yield* moveUntil(account_id, "cell_c", "waiting for the last rows")
      assert.include(yield* refused("cells", "close", "cell_c", "--lost", "--yes"), "answers, so it is not lost")
      yield* lost.kill
      yield* (yield* Cells).refresh
      yield* refused("accounts", "move", "--account", account_id, "--give-up")
      // The mover died in the last step, once the old cell refused the account.
      const sql = yield* Sql
      yield* sql`UPDATE account_cells SET step = 'fenced' WHERE account_id = ${account_id}`
      yield* inCell("cell_b", sql`INSERT INTO left_accounts (account_id) VALUES (${account_id}) ON CONFLICT DO NOTHING`)
      const meanwhile = refused("cells", "close", "cell_c", "--lost", "--yes")
      assert.include(yield* MoveSteps.alone(sql, account_id, () => meanwhile), "another process is moving")
      assert.include(yield* refused("cells", "close", "cell_c", "--lost"), "Confirm with --yes")
      assert.include(yield* done("cells", "close", "cell_c", "--lost", "--yes", "--json"), `"moves_ended": 1`)
      assert.deepStrictEqual(yield* entryOf(account_id), { cell: "cell_b", ...ENDED })
      yield* (yield* Cells).refresh
      assert.strictEqual(yield* countIn("cell_b", "left_accounts"), 0)
      yield* World.send(sender)
      yield* done("accounts", "move", "--account", account_id, "--to", "public")
      yield* (yield* Cells).refresh
      yield* World.send(sender)
    },
    TIMEOUT,
  )

  it.effect(
    "that an account has left is removed, and the account may move again",
    function* () {
      const [own, lost] = [yield* CellServers.make, yield* CellServers.make]
      yield* ServerCell.make("cell_d", own.url())
      yield* ServerCell.make("cell_e", lost.url())
      const sender = yield* senderIn("cell_e", "gone.test")
      const { account_id } = sender
      const sent = yield* World.send(sender)
      assert.include(yield* refused("cells", "close", "cell_e", "--lost", "--yes"), "answers, so it is not lost")
      yield* moveUntil(account_id, "cell_d", "the account is in cell_d")
      yield* lost.kill
      yield* refused("accounts", "move", "--account", account_id, "--to", "cell_d")
      // The cell that the account is in must answer, so that nothing of the move is left there.
      yield* own.stop
      assert.include(yield* refused("cells", "close", "cell_e", "--lost", "--yes"), "cell_d does not answer")
      assert.notInclude(yield* done("cells", "list"), "cell_e")
      yield* own.start
      yield* done("cells", "close", "cell_e", "--lost", "--yes")
      assert.deepStrictEqual(yield* entryOf(account_id), { cell: "cell_d", ...ENDED })
      const sql = yield* Sql
      const staged = sql`SELECT FROM pg_namespace WHERE nspname LIKE 'moving%'`
      assert.lengthOf(yield* inCell("cell_d", staged), 0)
      yield* done("accounts", "move", "--account", account_id, "--to", "public")
      yield* (yield* Cells).refresh
      yield* World.send(sender)
      assert.deepStrictEqual(yield* World.timeline(sent), ["EmailQueued"])
    },
    TIMEOUT,
  )
})

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("a cell on a lost server", (it) => {
  it.effect(
    "is removed unless accounts live there, and its name may be used again",
    function* () {
      const lost = yield* CellServers.make
      yield* ServerCell.make("cell_f", lost.url())
      const { account_id } = yield* senderIn("cell_f", "lives.test")
      assert.include(yield* refused("cells", "close", "public", "--lost", "--yes"), "schema of the first server")
      yield* lost.stop
      const inhabited = yield* refused("cells", "close", "cell_f", "--lost", "--yes")
      assert.include(inhabited, "1 account lives in the cell cell_f, and all mail there would be lost")
      assert.include(inhabited, "waybill cells address cell_f")
      yield* lost.start
      yield* done("accounts", "move", "--account", account_id, "--to", "public")
      yield* lost.stop
      // Citus proposes moves of cells without asking them.
      const isCitus = yield* CellSchema.isCitus(yield* Sql)
      for (const command of [
        ["cells", "check"],
        ...(isCitus ? [] : [["cells", "balance"]]),
        ["erase", "bo@example.org", "--yes"],
      ])
        assert.include(yield* refused(...command), "waybill cells close cell_f --lost")
      yield* done("cells", "close", "cell_f", "--lost", "--yes")
      yield* done("cells", "check")
      yield* done("cells", "balance")
      yield* done("erase", "bo@example.org", "--yes")
      yield* ServerCell.make("cell_f", (yield* CellServers.make).url())
      yield* done("accounts", "move", "--account", account_id, "--to", "cell_f")
      yield* done("cells", "check")
    },
    TIMEOUT,
  )
})
