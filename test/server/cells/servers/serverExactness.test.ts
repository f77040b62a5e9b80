import * as Account from "@waybill/domain/account/Account"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as DatabaseExamination from "@waybill/store/operations/DatabaseExamination"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Sql } from "@waybill/store/postgres/Sql"
import { Effect, Fiber, Layer } from "effect"
import { setTimeout } from "node:timers/promises"
import * as NewIds from "../../../../apps/server/src/process/NewIds.ts"
import * as Senders from "../../../support/cells/senders.ts"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { MIDDLE } from "../../../support/WallClock.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

/** Each test starts servers, and one of them two processes. */
const TIMEOUT = { timeout: 600_000 }
/** Mails that are left of the quota after the move, and that are tried. */
const LEFT = 10
const TRIED = 30
const PER_NODE = 4
/** Pause of a client behind each answer. */
const PACE_MS = 50

/** Process whose month does not end during a test. */
const inMiddleOfMonth = Effect.flatMap(Database.Fresh, ({ url }) =>
  ServiceProcess.startApi(url, [
    `--import=${new URL("../../../support/process/beginAt.ts", import.meta.url).href}?${MIDDLE}`,
  ]),
)

/** Sends a request again as clients do, until it has an answer. */
const untilAnswered = async (request: () => Promise<ServiceProcess.Answer>): Promise<ServiceProcess.Answer> => {
  for (;;) {
    const answer = await request()
    if (answer.status < 500) return answer
    assert.isTrue(answer.status === 503 || answer.json.error.reason === "outcome_unknown", JSON.stringify(answer.json))
    await setTimeout(PACE_MS)
  }
}

layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })(
  "two processes and a move between servers",
  (it) => {
    it.effect(
      "keep idempotency keys, the rate window, the quota and revocations exact",
      function* () {
        yield* ServerCell.make("cell_b", (yield* CellServers.make).url())
        yield* ServerCell.make("cell_c", (yield* CellServers.make).url())
        const nodes = yield* Effect.all([inMiddleOfMonth, inMiddleOfMonth], { concurrency: 2 })
        const { account_id, key } = yield* Senders.senderOn(nodes[0], "cell_b")
        const { id: revoked_id, secret: revoked } = yield* World.key(account_id)
        const send = (node: ServiceProcess.ServiceProcess, name: string, withKey = key) =>
          untilAnswered(() =>
            node.request("POST", "/v1/email/send", {
              key: withKey,
              idempotencyKey: name,
              body: { from: "hi@acme.test", to: "ana@example.org", subject: name, text: "Hi" },
            }),
          )
        // Each mail is sent to both processes at once, under one idempotency key, all the while.
        let isOver = false
        const families: Array<ReadonlyArray<ServiceProcess.Answer>> = []
        const loop = async (client: number) => {
          for (let nth = 0; !isOver; nth++) {
            families.push(await Promise.all(nodes.map((node) => send(node, `twin ${client} ${nth}`))))
            await setTimeout(PACE_MS)
          }
        }
        const loops = Promise.all(Array.from({ length: PER_NODE }, (_, client) => loop(client)))
        const moving = yield* Effect.forkChild(AccountMove.move(account_id, "cell_c"))
        for (const node of nodes)
          assert.strictEqual((yield* Effect.promise(() => send(node, "before", revoked))).status, 200)
        assert.strictEqual((yield* Fiber.join(moving)).to, "cell_c")
        const after = families.length + LEFT
        yield* World.until(
          Effect.sync(() => families.length),
          (count) => count >= after,
        )
        isOver = true
        yield* Effect.promise(() => loops)
        for (const family of families) {
          assert.deepStrictEqual(ServiceProcess.countByStatus(family), { 200: 2 })
          assert.strictEqual(new Set(family.map(({ json }) => json.id)).size, 1)
        }
        // A window counts each request once, wherever the account is: no two requests have the same place in it.
        const places = families.flat().map(({ answeredAt, headers }) => {
          const end_s = (performance.timeOrigin + answeredAt) / 1_000 + Number(headers.get("x-ratelimit-reset"))
          return `${Math.round(end_s / 60)} ${headers.get("x-ratelimit-remaining")}`
        })
        assert.strictEqual(new Set(places).size, places.length)

        // The key is refused from the answer to its revocation on, by both.
        const [first, second] = nodes
        const gone = yield* Effect.promise(() => first.request("DELETE", `/v1/api-keys/${revoked_id}`, { key }))
        assert.strictEqual(gone.status, 200)
        for (const node of nodes)
          assert.strictEqual((yield* Effect.promise(() => send(node, "after", revoked))).status, 401)

        const usage = Effect.promise(() => second.request("GET", "/v1/account", { key }))
        const used = families.length + 1
        assert.strictEqual((yield* usage).json.usage.emails, used)
        const { commit } = yield* EventStore
        const limits = { ...Account.NONE_GRANTED, send: 1_000_000, other: 1_000_000, monthly_emails: used + LEFT }
        const ref = { account_id, stream_id: account_id }
        yield* Effect.orDie(commit(Account, ref, Account.changeLimits(yield* NewIds.now, limits)))
        const answers = yield* Effect.promise(() =>
          ServiceProcess.sendMany(TRIED, (nth) => send(nodes[nth % 2] ?? first, `last ${nth}`)),
        )
        assert.deepStrictEqual(ServiceProcess.countByStatus(answers), { 200: LEFT, 429: TRIED - LEFT })
        assert.strictEqual((yield* usage).json.usage.emails, used + LEFT)
      },
      TIMEOUT,
    )

    it.effect(
      "serve no cell whose tables are of another release, and all others",
      function* () {
        const server = yield* CellServers.make
        yield* ServerCell.make("cell_d", server.url())
        const { url } = yield* Database.Fresh
        const [ofHome, ofD] = [yield* World.accountIn("public"), yield* World.accountIn("cell_d")]
        const sql = yield* Sql
        const name = "0001_waybill.sql"
        // The migration fails, because what it makes is there.
        yield* inCell("cell_d", sql`DELETE FROM schema_migrations WHERE name = ${name}`)
        const later = yield* Layer.build(Layer.fresh(World.services(url)))
        const exists = (cell: string, account_id: string) =>
          inCell(
            cell,
            Effect.flatMap(Sql, (own) => own`SELECT FROM accounts WHERE account_id = ${account_id}`),
          ).pipe(
            Effect.map(({ length }) => length),
            Effect.provideContext(later),
          )
        const refused = yield* Effect.flip(exists("cell_d", ofD))
        assert.isTrue(refused.isConnectionLost)
        assert.strictEqual(yield* exists("public", ofHome), 1)
        const { cells } = yield* DatabaseExamination.examine(url)
        assert.deepStrictEqual(
          cells.map(({ name, pending }) => [name, pending]),
          [
            ["public", []],
            ["cell_d", [name]],
          ],
        )
        yield* inCell("cell_d", sql`INSERT INTO schema_migrations (name) VALUES (${name})`)
        yield* World.until(
          Effect.orElseSucceed(exists("cell_d", ofD), () => 0),
          (count) => count === 1,
        )
      },
      TIMEOUT,
    )
  },
)
