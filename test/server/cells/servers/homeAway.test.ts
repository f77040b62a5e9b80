import * as ServerCell from "@waybill/store/cells/ServerCell"
import * as Migrations from "@waybill/store/database/Migrations"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as Cells from "@waybill/store/routing/Cells"
import { Context, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, describe, it, layer } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { faultProxy } from "../../../support/postgres/faultProxy.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

/** The test starts three servers and a process. */
const TIMEOUT = 600_000
const PER_SENDER = 10
const RETRY_AFTER = "5"

/** An account in a cell, with a key that the process does not know yet beside the one that it is used with. */
const senderIn = Effect.fnUntraced(function* (node: ServiceProcess.ServiceProcess, cell: string) {
  const account_id = yield* World.accountIn(cell)
  const { secret: key } = yield* World.key(account_id)
  const { id: other_id, secret: other } = yield* World.key(account_id)
  const { id: lost_id, secret: lost } = yield* World.key(account_id)
  yield* inCell(cell, World.verifiedDomain(`${cell.replace("_", "-")}.test`, account_id))
  const call = (method: string, path: string, body?: unknown, withKey = key) =>
    Effect.promise(() => node.request(method, path, { key: withKey, ...(body === undefined ? {} : { body }) }))
  const send = (subject: string, withKey = key) =>
    call(
      "POST",
      "/v1/email/send",
      { from: `hi@${cell.replace("_", "-")}.test`, to: "ana@example.org", subject, text: "Hi" },
      withKey,
    )
  return { account_id, cell, lost, lost_id, other, other_id, call, send }
})

type Sender = Effect.Success<ReturnType<typeof senderIn>>

const isRefused = ({ headers, json, status }: ServiceProcess.Answer) => {
  assert.deepStrictEqual([status, json.error.reason], [503, "unavailable"], JSON.stringify(json))
  assert.strictEqual(headers.get("retry-after"), RETRY_AFTER)
}

const sendMany = ({ cell, send }: Sender, when: string) =>
  Effect.forEach(
    Array.from({ length: PER_SENDER }, (_, nth) => `${cell} ${when} ${nth}`),
    (subject) =>
      // A busy server may answer too late, so that the client is asked to send again.
      World.until(
        Effect.tap(send(subject), (answer) =>
          Effect.sync(() => (answer.status === 200 ? undefined : isRefused(answer))),
        ),
        ({ status }) => status === 200,
      ).pipe(Effect.map(() => subject)),
  )

/** Waits until each of the subjects has arrived, and checks that none came twice. */
const arrived = (smtp: SmtpServer.SmtpServer, subjects: ReadonlyArray<string>) =>
  World.until(
    Effect.sync(() => {
      const texts = smtp.mails.map(({ bytes }) => bytes.toString("latin1"))
      return subjects.map((subject) => texts.filter((text) => text.includes(`Subject: ${subject}\r\n`)).length)
    }),
    (counts) => counts.every((count) => count > 0),
  ).pipe(
    Effect.map((counts) =>
      assert.deepStrictEqual(
        counts,
        Array.from(subjects, () => 1),
      ),
    ),
  )

layer(World.layer, { excludeTestServices: true, timeout: "120 seconds" })(
  "a process that cannot read the directory",
  (it) => {
    // threat: moved-accounts
    it.effect(
      "serves no account that has left its cell meanwhile, neither its requests nor its mail",
      function* () {
        const { url } = yield* Database.Fresh
        yield* ServerCell.make("cell_b", (yield* CellServers.make).url())
        yield* ServerCell.make("cell_c", (yield* CellServers.make).url())
        const [moves, stays] = [yield* World.accountIn("cell_b"), yield* World.accountIn("cell_b")]
        const key = yield* World.key(moves)
        const hash = createHash("sha256").update(key.secret).digest("hex")
        const proxy = yield* faultProxy(url)
        const cells = Context.get(yield* Layer.build(Layer.fresh(World.services(proxy.url))), Cells.Cells)
        assert.strictEqual(yield* cells.ofKey(hash), "cell_b")
        assert.strictEqual(yield* cells.of(stays), "cell_b")
        proxy.down()
        const isWorkedOn = Effect.map(cells.notToStart("cell_c"), (accounts) => !accounts.has(moves))
        const onCopies: Array<boolean> = []
        const report = (line: string) =>
          /^(pass|waiting)/.test(line)
            ? Effect.orDie(Effect.map(isWorkedOn, (is) => void onCopies.push(is)))
            : Effect.void
        yield* AccountMove.move(moves, "cell_c", { report })
        assert.deepStrictEqual(onCopies, [false, false])
        yield* World.until(isWorkedOn, (is) => is)
        for (const found of [cells.of(moves), cells.ofKey(hash)])
          assert.isTrue((yield* Effect.flip(found)).isNothingAccepted)
        assert.strictEqual(yield* cells.of(stays), "cell_b")
        const notToStart = yield* cells.notToStart("cell_b")
        assert.deepStrictEqual([notToStart.has(moves), notToStart.has(stays)], [true, false])
        proxy.up()
        yield* World.until(
          Effect.orElseSucceed(cells.ofKey(hash), () => "nowhere"),
          (cell) => cell === "cell_c",
        )
      },
      { timeout: TIMEOUT },
    )
  },
)

describe("the first server is away", () => {
  it.live(
    "known accounts on other servers send and are delivered, and everything goes on when it is back",
    () =>
      Effect.gen(function* () {
        const home = yield* CellServers.make
        const others = [yield* CellServers.make, yield* CellServers.make] as const
        yield* Migrations.migrate(home.url())
        const smtp = yield* SmtpServer.listen()
        const steps = Effect.gen(function* () {
          yield* ServerCell.make("cell_b", others[0].url())
          yield* ServerCell.make("cell_c", others[1].url())
          const node = yield* ServiceProcess.start(home.url(), {
            TRANSPORT: "relay",
            SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
          })
          const ofHome = yield* senderIn(node, "public")
          const senders = [yield* senderIn(node, "cell_b"), yield* senderIn(node, "cell_c")] as const
          for (const sender of [ofHome, ...senders]) yield* World.until(sender.send("known"), (a) => a.status === 200)
          const [ofB] = senders
          assert.strictEqual((yield* ofB.send("known", ofB.lost)).status, 200)
          for (const [when, leave, comeBack] of [
            ["frozen", home.freeze, home.thaw],
            ["stopped", home.stop, home.start],
          ] as const) {
            yield* leave
            const early = (yield* Effect.forEach(senders, (each) => sendMany(each, `${when} early`), {
              concurrency: "unbounded",
            })).flat()
            isRefused(yield* World.until(senders[0].send("unknown", senders[0].other), ({ status }) => status !== 200))
            isRefused(yield* ofHome.send("home"))
            const late = (yield* Effect.forEach(senders, (each) => sendMany(each, `${when} late`), {
              concurrency: "unbounded",
            })).flat()
            yield* arrived(smtp, [...early, ...late])
            const read = yield* senders[1].call("GET", "/v1/email/logs?limit=1")
            assert.strictEqual(read.status, 200)
            yield* World.until(
              senders[1].call("GET", `/v1/requests?request_id=${read.headers.get("x-request-id")}`),
              ({ json }) => json.data.length === 1,
            )
            isRefused(yield* ofB.call("POST", "/v1/api-keys", { name: "new", scopes: ["domains:read"] }))
            const signIn = yield* Effect.promise(() =>
              fetch(`${node.url}/auth/sign-in/email`, {
                method: "POST",
                headers: { "content-type": "application/json", origin: node.url },
                body: JSON.stringify({ email: "ana@example.org", password: "a long password" }),
              }),
            )
            assert.deepStrictEqual([signIn.status, signIn.headers.get("retry-after")], [503, RETRY_AFTER])
            const ready = yield* Effect.promise(() => fetch(`${node.url}/readyz`))
            assert.strictEqual(ready.status, 200)
            assert.deepStrictEqual((yield* Effect.promise(() => ready.json())).cells_down, ["public"])
            yield* ofB.call("DELETE", `/v1/api-keys/${ofB.lost_id}`)
            assert.strictEqual((yield* ofB.send("lost", ofB.lost)).status, 401)
            yield* comeBack
            yield* World.until(ofHome.send(`home ${when}`), ({ status }) => status === 200)
            yield* arrived(smtp, [`home ${when}`])
          }
          // Not known before, and refused at once when it is revoked.
          yield* World.until(ofB.send("known now", ofB.other), ({ status }) => status === 200)
          assert.strictEqual((yield* ofB.call("DELETE", `/v1/api-keys/${ofB.other_id}`)).status, 200)
          assert.strictEqual((yield* ofB.send("revoked", ofB.other)).status, 401)
        })
        yield* Effect.scoped(steps).pipe(Effect.provide(World.services(home.url(), 4)))
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})
