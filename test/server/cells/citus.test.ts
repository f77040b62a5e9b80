import { inCell } from "@waybill/store/routing/CurrentCell"
import * as Migrations from "@waybill/store/database/Migrations"
import * as CellNodes from "@waybill/store/operations/CellNodes"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Citus from "../../support/cells/citusDatabase.ts"
import * as Senders from "../../support/cells/senders.ts"
import { WAITING_SESSIONS } from "../../support/cells/testCell.ts"
import { NOWHERE } from "../../support/nowhere.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { runToEnd, WaybillCommand } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const { CITUS_URL } = Citus
const { ACCEPTED, PATIENCE } = Senders
const MAILS = 40
/** Mails of the quota that is spent while its cell moves, and mails that are tried beyond it. */
const QUOTA = 400
const BEYOND = 60
/** Moves of the cell meanwhile. Citus removes what one has left within 15 seconds, and refuses the way back until then. */
const MOVES = 2

let database: Citus.CitusDatabase
const url = () => Redacted.make(database.url)

/** A cell on each of the first two nodes, and a sender in each. */
const installation = Effect.fnUntraced(function* (prefix: string) {
  const [one, other] = database.nodes
  if (one === undefined || other === undefined) return yield* Effect.die(new Error("the cluster needs two nodes"))
  const nodes = [one, other] as const
  return { ...(yield* Senders.installation(url(), nodes, prefix)), nodes }
})

const services = Layer.unwrap(Effect.sync(() => World.services(url(), 4)))

const rowsOf = (cell: string) =>
  inCell(
    cell,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.map(
        Effect.orDie(sql<{ readonly delivered: number }>`
          SELECT count(*)::int AS delivered FROM events WHERE type = 'EmailDelivered'`),
        ([row]) => row?.delivered ?? 0,
      ),
    ),
  )

describe.skipIf(CITUS_URL === undefined)("cells on the nodes of a Citus cluster", () => {
  beforeAll(async () => {
    database = await Citus.citusDatabase(CITUS_URL ?? "")
    await Effect.runPromise(Migrations.migrate(url()))
  }, 60_000)
  afterAll(() => database.drop(), 60_000)

  it.live("accept and deliver mail, and show it in the log and the feed", () =>
    Effect.gen(function* () {
      const { first, second, sink } = yield* installation("send")
      for (const sender of [first, second]) {
        for (let nth = 0; nth < 5; nth++) assert.strictEqual((yield* sender.post(nth)).status, ACCEPTED)
        yield* World.until(rowsOf(sender.cell), (delivered) => delivered === 5, PATIENCE)
        const log = yield* sender.get("/v1/email/logs")
        assert.deepStrictEqual(
          log.json.data.map(({ status }: { readonly status: string }) => status),
          Array.from({ length: 5 }, () => "delivered"),
        )
        const events = yield* sender.get("/v1/events?limit=100")
        assert.strictEqual(events.status, 200)
        assert.isAtLeast(events.json.data.length, 10)
      }
      assert.lengthOf(sink.mails, 10)
    }).pipe(Effect.scoped, Effect.provide(services)),
  )

  it.live(
    "answer 503 while their node is away, lose no accepted mail, and delay no other cell",
    () =>
      Effect.gen(function* () {
        const { first, nodes, second, sink } = yield* installation("away")
        const sql = yield* Sql
        const [lost] = nodes
        const address = yield* faultProxy(Redacted.make(`postgres://${lost.host}:${lost.port}/`))
        const moveNode = (host: string, from: number, port: number) =>
          Effect.orDie(sql`
          SELECT citus_update_node(nodeid, ${host}, ${port}::int) IS NULL AS done FROM pg_dist_node WHERE nodeport = ${from}::int`)
        const proxyPort = Number(new URL(Redacted.value(address.url)).port)
        yield* moveNode("127.0.0.1", lost.port, proxyPort)
        yield* Effect.addFinalizer(() => moveNode(lost.host, proxyPort, lost.port))
        let accepted = 0
        for (let nth = 0; nth < MAILS; nth++) if ((yield* first.post(nth)).status === ACCEPTED) accepted++
        assert.strictEqual(accepted, MAILS)
        address.down()
        const refused = yield* World.until(first.post(MAILS), ({ status }) => status === 503, PATIENCE)
        assert.isTrue(Number(refused.headers.get("retry-after")) > 0)
        for (let nth = 0; nth < MAILS; nth++) assert.strictEqual((yield* second.post(nth)).status, ACCEPTED)
        yield* World.until(rowsOf(second.cell), (delivered) => delivered === MAILS, PATIENCE)
        address.up()
        yield* World.until(first.post(MAILS + 1), ({ status }) => status === ACCEPTED, PATIENCE)
        accepted++
        yield* World.until(rowsOf(first.cell), (delivered) => delivered >= accepted, PATIENCE)
        const subjects = new Set(sink.mails.map(({ bytes }) => /^Subject: (.*)$/mu.exec(bytes.toString())?.[1]))
        for (let nth = 0; nth < MAILS; nth++) assert.isTrue(subjects.has(`Receipt ${nth}`), `mail ${nth}`)
      }).pipe(Effect.scoped, Effect.provide(services)),
    240_000,
  )

  it.live(
    "move to another node, and let an account move between nodes, while mail flows",
    () =>
      Effect.gen(function* () {
        const { cells, first, nodes } = yield* installation("move")
        let sent = 0
        let failed = 0
        yield* Effect.forkScoped(
          Effect.forever(
            Effect.map(first.post(sent), ({ status }) => {
              if (status === ACCEPTED) sent++
              else failed++
            }),
          ),
        )
        yield* World.until(
          Effect.sync(() => sent),
          (count) => count >= 20,
          PATIENCE,
        )
        yield* Citus.moveCell(cells[0], nodes[1])
        yield* Citus.moveCell(cells[0], nodes[0])
        yield* AccountMove.move(first.account_id, cells[1])
        const before = sent
        yield* World.until(
          Effect.sync(() => sent),
          (count) => count >= before + 20,
          PATIENCE,
        )
        assert.strictEqual(failed, 0)
        assert.isTrue((yield* rowsOf(cells[0])) === 0)
        const log = yield* first.get("/v1/events?limit=100")
        assert.strictEqual(log.status, 200)
      }).pipe(Effect.scoped, Effect.provide(services)),
    240_000,
  )

  // threat: moved-accounts
  it.live(
    "spend a monthly quota to the last mail and not once more, in two processes, while they move",
    () =>
      Effect.gen(function* () {
        const { cells, node, nodes } = yield* installation("quota")
        const other = yield* ServiceProcess.start(url(), { TRANSPORT: "relay", SMTP_URL: "smtp://127.0.0.1:1" })
        const account_id = yield* World.accountIn(cells[0], {
          limits: { send: 1_000_000, other: 1_000_000, monthly_emails: QUOTA },
        })
        const { secret: key } = yield* World.key(account_id)
        yield* inCell(cells[0], World.verifiedDomain("acme.test", account_id))
        const send = async (nth: number): Promise<ServiceProcess.Answer> => {
          const body = { from: "hi@acme.test", to: "ana@example.org", subject: `Mail ${nth}`, text: "Hi" }
          const options = { key, body, idempotencyKey: `quota-${nth}` }
          for (;;) {
            const answer = await (nth % 2 === 0 ? node : other).request("POST", "/v1/email/send", options)
            if (answer.status < 500) return answer
            assert.isTrue(
              answer.status === 503 || answer.json.error.reason === "outcome_unknown",
              JSON.stringify(answer.json),
            )
          }
        }
        const sending = yield* Effect.forkChild(
          Effect.promise(() => ServiceProcess.sendMany(QUOTA + BEYOND, (nth) => send(nth))),
        )
        for (let moves = 0; moves < MOVES && (moves === 0 || sending.pollUnsafe() === undefined);) {
          const moved = yield* Effect.exit(CellNodes.move(cells[0], nodes[moves === 0 ? 1 : 0], () => Effect.void))
          if (Exit.isSuccess(moved)) moves++
        }
        const answers = yield* Fiber.join(sending)
        assert.deepStrictEqual(ServiceProcess.countByStatus(answers), { 200: QUOTA, 429: BEYOND })
        const usage = yield* Effect.promise(() => other.request("GET", "/v1/account", { key }))
        assert.strictEqual(usage.json.usage.emails, QUOTA)
      }).pipe(Effect.scoped, Effect.provide(services)),
    240_000,
  )

  it.live(
    "move to the end when the command that was killed in the switch is run again",
    () =>
      Effect.gen(function* () {
        const { cells, first, nodes } = yield* installation("killed")
        const [cell] = cells
        const command = ["cells", "move", cell, "--node"]
        const env = { DATABASE_URL: database.url, WAYBILL_DATA: NOWHERE, WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY }
        const at = (node: Citus.Node) => Redacted.make(Citus.at(database.url, node.host, node.port))
        /** Whether a node gives the positions of the cell. */
        const gives = (node: Citus.Node) =>
          Effect.promise(async () => {
            const asked = `SELECT to_regclass('here_${cell}.event_position') IS NOT NULL AS gives`
            return (await Citus.query(Redacted.value(at(node)), asked))[0]?.["gives"] === true
          })
        const load = yield* Senders.load(first)
        yield* load.goesOn(MAILS)
        /** Kills the command once the other node has what it needs, while a lock keeps it from its next step. */
        const killed = (to: Citus.Node, server: Redacted.Redacted, lock: string) =>
          Effect.scoped(
            Effect.gen(function* () {
              const locker = yield* otherClient(server)
              yield* locker.query(`BEGIN; ${lock}`)
              const move = new WaybillCommand([...command, `${to.host}:${to.port}`], env)
              yield* World.until(gives(to), Boolean, PATIENCE)
              yield* World.until(
                Effect.promise(() => Citus.query(Redacted.value(server), WAITING_SESSIONS)),
                ({ length }) => length > 0,
                PATIENCE,
              )
              yield* Effect.promise(() => move.stop("SIGKILL"))
              yield* locker.query("ROLLBACK")
            }),
          )
        const again = Effect.fnUntraced(function* (to: Citus.Node) {
          const { code, output } = yield* Effect.promise(() => runToEnd([...command, `${to.host}:${to.port}`], env))
          assert.strictEqual(code, 0, output)
        })
        const [one, other] = nodes
        // Both nodes have positions then. The former one goes on giving them.
        yield* killed(other, at(one), `LOCK TABLE here_${cell}.log_epochs IN ACCESS SHARE MODE`)
        yield* load.goesOn(MAILS)
        assert.deepStrictEqual([yield* gives(one), yield* gives(other)], [true, true])
        yield* again(other)
        assert.deepStrictEqual([yield* gives(one), yield* gives(other)], [false, true])
        yield* load.goesOn(MAILS)
        // Only the new node has them then, and no process knows.
        yield* killed(one, url(), `SELECT FROM cells WHERE name = '${cell}' FOR UPDATE`)
        assert.deepStrictEqual([yield* gives(one), yield* gives(other)], [true, false])
        yield* again(one)
        yield* load.goesOn(MAILS)
        yield* load.stop
        assert.deepStrictEqual(load.others, [])
        assert.deepStrictEqual(yield* Senders.missingIn(cell, load.accepted), [])
        yield* inCell(
          cell,
          Effect.gen(function* () {
            const sql = yield* Sql
            const rows = yield* sql<{ readonly version: number; readonly stream_id: string }>`
              SELECT stream_id, version FROM events ORDER BY position`
            const versions = new Map<string, number>()
            for (const { stream_id, version } of rows) {
              assert.strictEqual(version, (versions.get(stream_id) ?? 0) + 1)
              versions.set(stream_id, version)
            }
          }),
        )
      }).pipe(Effect.scoped, Effect.provide(services)),
    300_000,
  )

  it.live(
    "stay where they are when Citus does not move them, and say why",
    () =>
      Effect.gen(function* () {
        const { cells, nodes } = yield* installation("stay")
        const [from, to] = nodes
        const reader = yield* otherClient(Redacted.make(Citus.at(database.url, from.host, from.port)))
        const [shard] = (yield* Effect.promise(() =>
          Citus.query(
            database.url,
            `SELECT shard_name FROM citus_shards WHERE table_name = '${cells[0]}.accounts'::regclass`,
          ),
        )) as ReadonlyArray<{ readonly shard_name: string }>
        // Its lock keeps Citus from removing what the first move leaves.
        yield* reader.query("SET citus.override_table_visibility = off")
        yield* reader.query(`BEGIN; SELECT FROM ${shard?.shard_name}`)
        yield* Citus.moveCell(cells[0], to)
        const { message } = yield* Effect.flip(CellNodes.move(cells[0], from, () => Effect.void))
        assert.match(message, /^Citus did not move the cell stay_1: /u)
        yield* reader.query("ROLLBACK")
        yield* World.until(Effect.exit(CellNodes.move(cells[0], from, () => Effect.void)), Exit.isSuccess, PATIENCE)
      }).pipe(Effect.scoped, Effect.provide(services)),
    240_000,
  )
})
