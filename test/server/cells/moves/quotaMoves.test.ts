import * as CellSchema from "@waybill/store/cells/CellSchema"
import type { PgClient } from "@effect/sql-pg"
import * as AccountMove from "@waybill/store/moves/AccountMove"
import * as LogDay from "@waybill/store/requests/LogDay"
import * as RequestLogDays from "@waybill/store/requests/RequestLogDays"
import { Sql } from "@waybill/store/postgres/Sql"
import { inCell } from "@waybill/store/routing/CurrentCell"
import * as Directory from "@waybill/store/routing/directory/Directory"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { setTimeout } from "node:timers/promises"
import { assert, layer } from "../../../support/effectTest.ts"
import * as Database from "../../../support/postgres/Database.ts"
import { MIDDLE } from "../../../support/WallClock.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"
import { countIn } from "../support.ts"

const QUOTA = 150
/** Mails that are left of the quota when the last step of the move begins. */
const LEFT = 40
const BEYOND = 60
/** Pause of a client before it asks again. */
const PAUSE_MS = 50
/** Longer than a busy machine takes for the last rows, so that the move ends there. */
const PATIENCE = Duration.minutes(2)

const stepOf = (account_id: string) =>
  Effect.flatMap(Sql, (sql) =>
    Effect.map(
      Effect.orDie(
        sql<{ readonly step: string | null }>`SELECT step FROM account_cells WHERE account_id = ${account_id}`,
      ),
      ([row]) => row?.step,
    ),
  )

/** Process whose month does not end during the test. */
const inMiddleOfMonth = Effect.flatMap(Database.Fresh, ({ url }) =>
  ServiceProcess.startApi(url, [
    `--import=${new URL("../../../support/process/beginAt.ts", import.meta.url).href}?${MIDDLE}`,
  ]),
)

layer(World.layer, { excludeTestServices: true })("the monthly quota of an account that moves", (it) => {
  // threat: moved-accounts
  it.effect(
    "is spent to the last mail and not once more by requests that wait in two processes",
    function* () {
      for (const cell of ["cell_b", "cell_c"]) yield* CellSchema.make(cell)
      const account_id = yield* World.accountIn("cell_b", {
        limits: { send: 1_000_000, other: 1_000_000, monthly_emails: QUOTA },
      })
      const { secret: key } = yield* World.key(account_id)
      yield* inCell("cell_b", World.verifiedDomain("acme.test", account_id))
      // The day of the processes, which is not that of the one that moves.
      yield* inCell("cell_b", RequestLogDays.make(LogDay.dayOf(Date.parse(MIDDLE))))
      const nodes = yield* Effect.all([inMiddleOfMonth, inMiddleOfMonth], { concurrency: 2 })
      const send = async (nth: number): Promise<ServiceProcess.Answer> => {
        const body = { from: "hi@acme.test", to: "ana@example.org", subject: `Mail ${nth}`, text: "Hi" }
        const options = { key, body, idempotencyKey: `mail-${nth}` }
        for (;;) {
          const answer = await (nodes[nth % 2] ?? nodes[0]).request("POST", "/v1/email/send", options)
          if (answer.status < 500) return answer
          assert.isTrue(answer.status === 503 || answer.json.error.reason === "outcome_unknown")
          await setTimeout(PAUSE_MS)
        }
      }
      const sendFrom = (first: number, count: number) =>
        Effect.promise(() => ServiceProcess.sendMany(count, (nth) => send(first + nth)))
      const before = yield* Effect.forkChild(sendFrom(0, QUOTA - LEFT))
      const beside = yield* Deferred.make<ReadonlyArray<ServiceProcess.Answer>>()
      const report = (line: string) =>
        line.startsWith("waiting for")
          ? Effect.andThen(Fiber.join(before), Effect.forkDetach(Deferred.into(sendWhenFenced, beside)))
          : Effect.void
      const sendWhenFenced = Effect.gen(function* () {
        yield* World.until(stepOf(account_id), (step) => step === "fenced")
        // From now on the processes let requests of the account wait.
        yield* Effect.sleep(Directory.TRUSTED_FOR)
        return yield* sendFrom(QUOTA - LEFT, LEFT + BEYOND)
      }).pipe(Effect.provideContext(yield* Effect.context<PgClient.PgClient>()))
      assert.strictEqual(
        (yield* AccountMove.move(account_id, "cell_c", { report, longestWait: PATIENCE })).to,
        "cell_c",
      )
      const answers = [...(yield* Fiber.join(before)), ...(yield* Deferred.await(beside))]
      assert.deepStrictEqual(ServiceProcess.countByStatus(answers), { 200: QUOTA, 429: BEYOND })
      assert.strictEqual(new Set(answers.map(({ json }) => json.id)).size, QUOTA + 1)
      assert.deepStrictEqual([yield* countIn("cell_b", "email_log"), yield* countIn("cell_c", "email_log")], [0, QUOTA])
      const usage = yield* Effect.promise(() => nodes[0].request("GET", "/v1/account", { key }))
      assert.strictEqual(usage.json.usage.emails, QUOTA)
    },
    { timeout: 240_000 },
  )
})
