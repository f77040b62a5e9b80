import * as Conservation from "@waybill/store/operations/Conservation"
import { Duration, Effect } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as CommandLine from "../../support/process/CommandLine.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { load } from "./clients.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"

const MAILS_BETWEEN_RESTARTS = 60

layer(World.layer, { excludeTestServices: true })("a rolling restart of two api and two worker processes", (it) => {
  it.effect(
    "loses nothing under load, and sends nothing twice",
    function* () {
      const { url } = yield* Database.Fresh
      const sink = yield* SmtpServer.listen({ keep_bytes: false })
      const api = ServiceProcess.start(url, { ROLES: "api" })
      const worker = ServiceProcess.start(url, {
        ROLES: "worker",
        TRANSPORT: "relay",
        SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
      })
      const [workers, apis] = yield* Effect.all([Effect.all([worker, worker]), Effect.all([api, api])], {
        concurrency: "unbounded",
      })
      const { account_id, key } = yield* ServiceProcess.signUp(apis[0], { limits: { send: 1_000_000 } })
      let serving: ReadonlyArray<ServiceProcess.ServiceProcess> = apis
      const clients = load(() => serving, key)
      const codes: Array<number | null> = []
      for (const old of workers) {
        yield* clients.more(MAILS_BETWEEN_RESTARTS)
        yield* worker
        codes.push(yield* old.stop)
      }
      for (const old of apis) {
        yield* clients.more(MAILS_BETWEEN_RESTARTS)
        serving = serving.concat(yield* api)
        // The stopping node is still in the balancer; clients that it refuses try the next one.
        codes.push(yield* old.stop)
        serving = serving.filter((node) => node !== old)
      }
      yield* clients.more(MAILS_BETWEEN_RESTARTS)
      yield* clients.end

      const { answers } = clients
      assert.deepStrictEqual(codes, [0, 0, 0, 0])
      assert.deepStrictEqual(ServiceProcess.countByStatus(answers), { 200: answers.length })
      const pending = Effect.map(CommandLine.typed("audit", "emails"), (days) =>
        days.reduce((sum: number, { in_flight }: { readonly in_flight: number }) => sum + in_flight, 0),
      )
      yield* World.until(pending, (emails) => emails === 0, Duration.seconds(60))
      // Each accepted message is in the log once and reached the server once.
      const ids = new Set(answers.map(({ json }) => String(json.id)))
      assert.strictEqual(ids.size, answers.length)
      assert.strictEqual(sink.counts.size, answers.length)
      assert.deepStrictEqual([...new Set(sink.counts.values())], [1])
      const balances = (yield* Conservation.emails()).filter((each) => each.account_id === account_id)
      assert.strictEqual(
        balances.reduce((sum, { accepted }) => sum + accepted, 0),
        answers.length,
      )
      for (const { accepted, mismatched, final, in_flight } of balances) {
        assert.deepStrictEqual([final, in_flight, mismatched], [accepted, 0, 0])
      }
    },
    600_000,
  )
})

layer(World.layer, { excludeTestServices: true })("nodes that start at once on an empty log", (it) => {
  it.effect(
    "install once",
    function* () {
      const { url } = yield* Database.Fresh
      yield* Effect.all(
        Array.from({ length: 3 }, () => ServiceProcess.start(url, { ROLES: "api" })),
        { concurrency: "unbounded" },
      )
      for (const what of ["accounts", "users"]) assert.lengthOf(yield* CommandLine.typed(what, "list"), 1, what)
    },
    600_000,
  )
})
