import * as CellSchema from "@waybill/store/cells/CellSchema"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Redacted } from "effect"
import { assert, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import { NOWHERE } from "../../../support/nowhere.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { runToEnd, WaybillCommand } from "../../../support/process/service.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"
import { load } from "../../processes/clients.ts"
import { lockTables } from "../support.ts"

/** Beginnings of the lines that the move prints, one for each of its steps. */
const STEPS = ["copying from", "pass 1", "waiting for the last rows", "the account is in cell_b"]
const MAILS_BETWEEN_KILLS = 10

/** Ids of an account's events in a cell, in the order of the log. */
const eventsIn = (cell: string, account_id: string) =>
  inCell(
    cell,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.map(
        Effect.orDie(sql<{ readonly event_id: string }>`
          SELECT event_id FROM events WHERE account_id = ${account_id} ORDER BY position`),
        (rows) => rows.map(({ event_id }) => event_id),
      ),
    ),
  )

/** Events of the account by its API, page by page. */
const feedOf = Effect.fnUntraced(function* (node: ServiceProcess.ServiceProcess, key: string) {
  const events: Array<{ readonly id: string; readonly type: string }> = []
  for (let after = "0", more = true; more;) {
    const { json } = yield* Effect.promise(() =>
      node.request("GET", `/v1/events?limit=100&after_position=${after}`, { key }),
    )
    events.push(...json.data)
    more = json.has_more
    after = json.next_position
  }
  return events
})

layer(World.layer, { excludeTestServices: true })("the process that moves an account", (it) => {
  it.effect(
    "may be killed at each of its steps while the account sends: nothing is lost, doubled or out of order",
    function* () {
      const { url } = yield* Database.Fresh
      const env = { DATABASE_URL: Redacted.value(url), WAYBILL_DATA: NOWHERE }
      yield* CellSchema.make("cell_b")
      const sink = yield* SmtpServer.listen({ keep_bytes: false })
      const node = yield* ServiceProcess.start(url, { TRANSPORT: "relay", SMTP_URL: `smtp://127.0.0.1:${sink.port}` })
      const account_id = yield* World.account({ limits: { send: 1_000_000 } })
      const { secret: key } = yield* World.key(account_id)
      yield* World.verifiedDomain("acme.test", account_id)
      const clients = load(() => [node], key)
      const command = ["accounts", "move", "--account", account_id, "--to", "cell_b"]
      for (const step of STEPS) {
        yield* clients.more(MAILS_BETWEEN_KILLS)
        const move = new WaybillCommand(command, env)
        yield* Effect.promise(async () => {
          await move.waitForOutput(step)
          await move.stop("SIGKILL")
        })
        yield* clients.more(MAILS_BETWEEN_KILLS)
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          // It deletes the rows of this table after most others, so that it cannot end before it is killed.
          yield* lockTables("public", "api_key_uses")
          const move = new WaybillCommand(command, env)
          yield* World.until(eventsIn("public", account_id), ({ length }) => length === 0, Duration.seconds(60))
          yield* Effect.promise(() => move.stop("SIGKILL"))
        }),
      )
      yield* clients.more(MAILS_BETWEEN_KILLS)
      const { code, output } = yield* Effect.promise(() => runToEnd(command, env))
      assert.strictEqual(code, 0, output)
      yield* clients.more(MAILS_BETWEEN_KILLS)
      yield* clients.end

      const { answers } = clients
      assert.deepStrictEqual(ServiceProcess.countByStatus(answers), { 200: answers.length })
      const sent = new Set(answers.map(({ json }) => String(json.id)))
      assert.strictEqual(sent.size, answers.length)
      yield* World.until(
        Effect.sync(() => sink.counts.size),
        (arrived) => arrived === answers.length,
        Duration.seconds(60),
      )
      assert.deepStrictEqual([...new Set(sink.counts.values())], [1])
      assert.deepStrictEqual(yield* eventsIn("public", account_id), [])
      const events = yield* World.until(
        feedOf(node, key),
        (found) => found.filter(({ type }) => type === "email.delivered").length === answers.length,
        Duration.seconds(60),
      )
      const read = events.map(({ id }) => id)
      const isRead = new Set(read)
      assert.strictEqual(isRead.size, read.length)
      const logged = yield* eventsIn("cell_b", account_id)
      assert.deepStrictEqual(
        read,
        logged.filter((id) => isRead.has(id)),
      )
      assert.strictEqual(events.filter(({ type }) => type === "email.queued").length, answers.length)
    },
    { timeout: 600_000 },
  )
})
