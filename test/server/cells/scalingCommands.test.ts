import { PgClient } from "@effect/sql-pg"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as Migrations from "@waybill/store/database/Migrations"
import { Duration, Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { faultProxy } from "../../support/postgres/faultProxy.ts"
import { otherClient } from "../../support/postgres/otherClient.ts"
import * as DocCommands from "../../support/process/DocCommands.ts"
import * as Citus from "../../support/cells/citusDatabase.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const { CITUS_URL } = Citus
const PATIENCE = Duration.seconds(90)
/** Number of messages that are accepted between two blocks of commands. */
const MEANWHILE = 5
const ACCEPTED = 200
const UNAVAILABLE = 503
/** Setting of the document, without which Citus may find no process for its work in the background, */
const ENOUGH_WORKERS = 16
/** and the commands that need this work to be done: moves of cells, and the end of commits and deadlocks. */
const NEEDS_WORKERS = /cells balance|citus_update_node/u

const at = (url: string, { database, port, user }: { database?: string; port?: number; user?: string }) => {
  const changed = new URL(url)
  if (database !== undefined) changed.pathname = `/${database}`
  if (port !== undefined) changed.port = String(port)
  if (user !== undefined) Object.assign(changed, { username: user, password: "" })
  return changed.href
}

/** A database on the coordinator alone, without Citus, that belongs to a role with no other rights. */
const onePostgres = Effect.fnUntraced(function* (coordinator: string, name: string, nodes: ReadonlyArray<Citus.Node>) {
  const superuser = yield* otherClient(Redacted.make(coordinator))
  yield* superuser.query("SET citus.enable_ddl_propagation = off")
  yield* Effect.addFinalizer(() =>
    Effect.forEach(
      [coordinator, ...nodes.map(({ port }) => at(coordinator, { port }))],
      (server) =>
        Effect.scoped(
          Effect.gen(function* () {
            const client = yield* otherClient(Redacted.make(server))
            yield* client.query("SET citus.enable_ddl_propagation = off")
            yield* client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
            yield* client.query(`DROP ROLE IF EXISTS ${name}`)
          }),
        ),
      { discard: true },
    ),
  )
  yield* superuser.query(`CREATE ROLE ${name} LOGIN`)
  yield* superuser.query(`CREATE DATABASE ${name} OWNER ${name}`)
  const url = Redacted.make(at(coordinator, { database: name, user: name }))
  yield* Migrations.migrate(url)
  return url
})

/** A service that relays to a server of the test, and an account of it that sends without a pause. */
const sender = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sink = yield* SmtpServer.listen()
  const node = yield* ServiceProcess.start(url, {
    TRANSPORT: "relay",
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
  })
  const account_id = yield* World.account({ limits: { send: 100_000 } })
  const { secret: key } = yield* World.key(account_id)
  yield* World.verifiedDomain("acme.test", account_id)
  const post = (path: string, body: unknown) => Effect.promise(() => node.request("POST", path, { key, body }))
  const mail = { from: "hi@acme.test", to: "jane@example.com", subject: "Receipt", text: "Thank you." }
  const answers = { accepted: 0, others: new Array<number>() }
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.map(post("/v1/email/send", mail), ({ status }) => {
        if (status === ACCEPTED) answers.accepted++
        else answers.others.push(status)
      }),
    ),
  )
  return { account_id, answers, sink }
})

const accountsOf = (cell: string) =>
  inCell(
    cell,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.map(Effect.orDie(sql<{ readonly id: string }>`SELECT account_id AS id FROM accounts`), (rows) =>
        rows.map(({ id }) => id),
      ),
    ),
  )

interface Installation {
  readonly coordinator: string
  readonly url: Redacted.Redacted
  /** Name of the database and of its role. */
  readonly name: string
  readonly account_id: string
  /** The nodes, and the standby of the first, for which the document has addresses from 10.0.0.2 on. */
  readonly servers: ReadonlyArray<Omit<Citus.Node, "pid">>
}

const addressOf = (url: Redacted.Redacted) => {
  const { hostname, port } = new URL(Redacted.value(url))
  return { host: hostname, port: Number(port) }
}

/** Returns where the commands run, and what stands there for the names in the document. */
const placeOf = Effect.fnUntraced(function* ({ account_id, coordinator, name, servers, url }: Installation) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "waybill-scaling-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  )
  const shims = yield* Effect.promise(() => DocCommands.shims(join(folder, "bin")))
  const { hostname, port, username } = new URL(coordinator)
  const addresses = [{ host: hostname, port }, ...servers].flatMap(({ host, port }, nth) => [
    [`'10.0.0.${nth + 1}', 5432`, `'${host}', ${port}`],
    [`10.0.0.${nth + 1}:5432`, `${host}:${port}`],
  ])
  return {
    checkout: process.cwd(),
    env: {
      PATH: `${shims}:${process.env["PATH"] ?? ""}`,
      HOME: folder,
      WAYBILL_DATA: folder,
      WAYBILL_INSTANCE_KEY: World.INSTANCE_KEY,
      DATABASE_URL: Redacted.value(url),
      ADMIN_URL: at(coordinator, { database: name }),
      ACCOUNT: account_id,
    },
    instead: {
      "postgres://postgres@": `postgres://${username}@`,
      "ROLE waybill": `ROLE ${name}`,
      "DATABASE waybill": `DATABASE ${name}`,
      "OWNER waybill": `OWNER ${name}`,
      '/waybill"': `/${name}"`,
      ...Object.fromEntries(addresses),
    },
  } satisfies DocCommands.Place
})

/** Whether the cluster has as many worker processes as the document says. */
const hasWorkers = Effect.fnUntraced(function* (coordinator: string) {
  const client = yield* otherClient(Redacted.make(coordinator))
  const [row] = yield* client.query("SELECT current_setting('max_worker_processes')::int AS workers")
  return Number(row?.["workers"]) >= ENOUGH_WORKERS
})

describe.skipIf(CITUS_URL === undefined)("citus.md on a Citus cluster, which WAYBILL_TEST_CITUS_URL names", () => {
  it.live(
    "grows one Postgres to a cluster while mail flows",
    () =>
      Effect.gen(function* () {
        const coordinator = CITUS_URL ?? ""
        const nodes = yield* Effect.promise(() => Citus.nodesOf(coordinator))
        const [one, other] = nodes
        if (one === undefined || other === undefined) return yield* Effect.die(new Error("the cluster needs two nodes"))
        const name = `waybill_${randomBytes(6).toString("hex")}`
        const url = yield* onePostgres(coordinator, name, nodes)
        yield* Effect.gen(function* () {
          const { account_id, answers, sink } = yield* sender(url)
          // The standby of a node is the node itself at another address.
          const standby = (yield* faultProxy(Redacted.make(`postgres://${one.host}:${one.port}/`))).url
          const place = yield* placeOf({
            coordinator,
            url,
            name,
            account_id,
            servers: [one, other, addressOf(standby)],
          })
          const flows = Effect.suspend(() => {
            const before = answers.accepted
            return World.until(
              Effect.sync(() => answers),
              ({ accepted }) => accepted >= before + MEANWHILE,
              PATIENCE,
            )
          })
          yield* flows
          const worksInBackground = yield* hasWorkers(coordinator)
          const blocks = DocCommands.blocks("docs/operating/citus.md").filter(({ how }) => how === "cluster")
          assert.isAbove(blocks.length, 4)
          for (const block of blocks) {
            if (NEEDS_WORKERS.test(block.text) && !worksInBackground) {
              console.warn(`not run, because max_worker_processes is below ${ENOUGH_WORKERS}: ${block.text.trim()}`)
              continue
            }
            const { code, output } = yield* Effect.promise(() => DocCommands.run(block, place))
            assert.strictEqual(code, 0, `${block.file}:${block.line}\n${output}`)
            yield* flows
            // While Citus changes a node's address, requests of its cells wait, some of them too long.
            const isFailover = block.text.includes("citus_update_node")
            const others = answers.others.filter((status) => !isFailover || status !== UNAVAILABLE)
            assert.deepStrictEqual(others, [], `${block.file}:${block.line}`)
          }
          assert.deepStrictEqual(yield* accountsOf("cell_b"), [account_id])
          yield* World.until(
            Effect.sync(() => sink.mails.length),
            (delivered) => delivered >= answers.accepted - 1,
            PATIENCE,
          )
        }).pipe(Effect.scoped, Effect.provide(World.services(url, 4)))
      }).pipe(Effect.scoped),
    480_000,
  )
})
