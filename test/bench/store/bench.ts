// Single commits from 64 fibers: grouped, and one transaction each, on one server.
import "effect/schema/SchemaJITCompiler/enable"
import * as Email from "@waybill/domain/email/Email"
import * as Id from "@waybill/domain/values/Id"
import * as Database from "@waybill/store/database/Database"
import { EventStore } from "@waybill/store/commit/EventStore"
import { Context, Effect, Exit, Layer, Redacted, References, Result, Scope } from "effect"
import { randomBytes } from "node:crypto"
import pg from "pg"
import * as Measure from "../report/Measure.ts"
import { message } from "./message.ts"
import { single } from "./single.ts"
import * as TemporaryServer from "../report/TemporaryServer.ts"
import { alone } from "../../support/postgres/Database.ts"

const FIBERS = 64
/** Connections of each contender; `npm run bench -- store --connections=64` sets another number. */
const CONNECTIONS = Number(
  process.argv.find((argument) => argument.startsWith("--connections="))?.split("=")[1] ?? Database.DEFAULT_CONNECTIONS,
)
const ROUNDS = 5
const ROUND_MILLIS = 600
const WARM_UP_MILLIS = 300

const account = () => Id.make("AccountId", Date.now(), randomBytes(10))
const ours = account()
const theirs = account()

const GROUPED = "grouped"
const SINGLE = "one transaction each"

/** Commits through the event store, as a request handler does. */
const grouped = (url: Redacted.Redacted): Effect.Effect<Measure.Contender, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const services = yield* Layer.build(
      EventStore.layer().pipe(Layer.provide([alone, Database.layer({ url, connections: CONNECTIONS })])),
    )
    const store = Context.get(services, EventStore)
    const send = Effect.suspend(() => {
      const { event, id } = message()
      return store.transact({
        account_id: ours,
        streams: [{ aggregate: Email, id, isNew: true }],
        decide: () => Result.succeed({ append: [{ aggregate: Email, id, events: [event] }], answer: id }),
      })
    })
    // Spans are off, as in a service without a collector.
    const hammer = (millis: number) =>
      Effect.provideService(
        Measure.hammerEffect(FIBERS, millis, () => send),
        References.TracerEnabled,
        false,
      )
    return { name: GROUPED, run: (millis) => Effect.runPromise(hammer(millis)) }
  })

const contenders = Effect.gen(function* () {
  const server = yield* TemporaryServer.temporaryServer({ max_connections: String(2 * CONNECTIONS + 70) })
  const url = yield* Effect.promise(() => TemporaryServer.freshDatabase(server))
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new pg.Pool({ connectionString: Redacted.value(url), max: CONNECTIONS })
      // The server stops while connections are idle.
      pool.on("error", () => {})
      return pool
    }),
    (pool) => Effect.promise(() => pool.end()),
  )
  const singles: Measure.Contender = {
    name: SINGLE,
    run: (millis) => Measure.hammer(FIBERS, millis, single(pool, theirs)),
  }
  return { server, url, all: [yield* grouped(url), singles] }
})

/** Compares the rows of both contenders, so that each does the same work in every table. */
const assertSameWork = async (url: Redacted.Redacted): Promise<void> => {
  const rowsOf = async (account_id: string) => {
    const key = `id_key('${account_id}')`
    const [row] = await TemporaryServer.execute(
      Redacted.value(url),
      `SELECT ${["email_log", "email_log_terms", "outbox"]
        .map(
          (table) =>
            `(SELECT count(*) FROM ${table} WHERE account_id = ${table === "outbox" ? `'${account_id}'` : key})::float8 / count(*) AS ${table}`,
        )
        .join(", ")}, (SELECT count(*) FROM email_subjects WHERE account_id = ${key})::int AS subjects
      FROM events WHERE account_id = '${account_id}'`,
    )
    return JSON.stringify(row)
  }
  const [grouped, single] = [await rowsOf(ours), await rowsOf(theirs)]
  if (grouped !== single) throw new Error(`the two do not do the same work: ${grouped} and ${single}`)
}

const scope = Scope.makeUnsafe()
try {
  const { all, server, url } = await Effect.runPromise(Scope.provide(contenders, scope))
  const environment = await TemporaryServer.environment(server)
  const settings = []
  for (const commit_delay of [0, TemporaryServer.CLOUD_COMMIT_MICROS]) {
    await TemporaryServer.setCommitDelay(server, commit_delay)
    const results = await Measure.rounds(all, { rounds: ROUNDS, millis: ROUND_MILLIS, warmUpMillis: WARM_UP_MILLIS })
    settings.push({ commit_delay, results })
  }
  await assertSameWork(url)
  Measure.answer(
    { fibers: FIBERS, connections: CONNECTIONS, rounds: ROUNDS, environment, settings },
    [
      `Single commits of ${FIBERS} fibers, ${CONNECTIONS} connections each, ${ROUNDS} rounds.`,
      TemporaryServer.describe(environment),
      ...settings.flatMap(({ commit_delay, results }) => [
        "",
        commit_delay === 0 ? "The disk as it is:" : `Every commit ${commit_delay / 1000} ms, as on a cloud's disk:`,
        Measure.resultsTable(results, SINGLE),
      ]),
    ].join("\n"),
    settings.map(({ commit_delay, results }) => ({
      what: `commits of 64 fibers against one transaction each${commit_delay === 0 ? "" : `, every commit ${commit_delay / 1000} ms`}`,
      measured: Measure.ratio(results, GROUPED, SINGLE),
      unit: "times" as const,
      ...(commit_delay === 0 ? {} : { atLeast: 5 }),
    })),
  )
} finally {
  await Effect.runPromise(Scope.close(scope, Exit.void))
}
