import * as CellSchema from "@waybill/store/cells/CellSchema"
import * as Conservation from "@waybill/store/operations/Conservation"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Fiber, type Redacted } from "effect"
import { assert } from "../effectTest.ts"
import * as SmtpServer from "../mail/smtpServer.ts"
import * as ServiceProcess from "../world/ServiceProcess.ts"
import * as World from "../world/World.ts"
import { moveCell, type Node } from "./citusDatabase.ts"

export const PATIENCE = Duration.seconds(180)
export const ACCEPTED = 200
const UNAVAILABLE = 503
const OUTCOME_UNKNOWN = "outcome_unknown"

type Server = Pick<Node, "host" | "port">

const mail = (nth: number) => ({
  from: "hi@acme.test",
  to: `jane${nth}@example.com`,
  subject: `Receipt ${nth}`,
  text: "Thank you.",
})

/** A cell on each of two nodes, an account in each, and a process that relays their mail to a server of the test. */
export const installation = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  nodes: readonly [Server, Server],
  prefix: string,
) {
  const sink = yield* SmtpServer.listen()
  const cells = [yield* CellSchema.make(`${prefix}_1`), yield* CellSchema.make(`${prefix}_2`)] as const
  yield* moveCell(cells[0], nodes[0])
  yield* moveCell(cells[1], nodes[1])
  const node = yield* ServiceProcess.start(url, {
    TRANSPORT: "relay",
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    BASE_URL: "",
  })
  const [first, second] = [yield* senderOn(node, cells[0]), yield* senderOn(node, cells[1])]
  return { cells, node, sink, first, second }
})

/** An account in a cell that sends by a process. */
export const senderOn = Effect.fnUntraced(function* (node: ServiceProcess.ServiceProcess, cell: string) {
  const account_id = yield* World.accountIn(cell, { limits: { send: 1_000_000, other: 1_000_000 } })
  const { secret: key } = yield* World.key(account_id)
  yield* inCell(cell, World.verifiedDomain("acme.test", account_id))
  const post = (nth: number) =>
    Effect.promise(() =>
      node.request("POST", "/v1/email/send", { key, body: mail(nth), idempotencyKey: `mail-${nth}` }),
    )
  const get = (path: string) => Effect.promise(() => node.request("GET", path, { key }))
  return { cell, account_id, key, post, get }
})

export type Sender = Effect.Success<ReturnType<typeof senderOn>>

/** What became of the mails of an account that sends without a pause. */
export interface Load {
  /** Ids of accepted mails, in the order of their answers. */
  readonly accepted: ReadonlyArray<string>
  /** Number of answers 503 with `Retry-After`, after which a mail was sent again. */
  readonly unavailable: () => number
  /** Number of answers that the commit was not confirmed, after which a mail was sent again with the same `Idempotency-Key`. */
  readonly unconfirmed: () => number
  /** Other answers. */
  readonly others: ReadonlyArray<number>
  /** Waits until as many more mails are accepted. */
  readonly goesOn: (more: number) => Effect.Effect<unknown>
  /** Ends the load; mails that were begun are sent until they are accepted. */
  readonly stop: Effect.Effect<void>
}

/** Number of mails that an account sends at the same time. */
export const AT_ONCE = 4
/** Most mails of an account a second: without a pace the load takes the processors from what it loads. */
const PER_SECOND = 20

/** Lets an account send mails until the load is stopped, each of them until it is accepted, as clients do that lose none. */
export const load = Effect.fnUntraced(function* ({ post }: Sender, clients = AT_ONCE) {
  const accepted: Array<string> = []
  const others: Array<number> = []
  let unavailable = 0
  let unconfirmed = 0
  let next = 0
  let isStopped = false
  const send = (nth: number) =>
    World.until(
      Effect.tap(post(nth), ({ headers, json, status }) =>
        Effect.sync(() => {
          if (status === ACCEPTED) accepted.push(json.id)
          else if (status === UNAVAILABLE && Number(headers.get("retry-after")) > 0) unavailable++
          else if (json.error.reason === OUTCOME_UNKNOWN) unconfirmed++
          else others.push(status)
        }),
      ),
      ({ status }) => status === ACCEPTED,
      PATIENCE,
    )
  const loop = Effect.gen(function* () {
    while (!isStopped) yield* Effect.andThen(send(next++), Effect.sleep(Duration.seconds(clients / PER_SECOND)))
  })
  const fiber = yield* Effect.forkScoped(
    Effect.all(
      Array.from({ length: clients }, () => loop),
      { concurrency: clients },
    ),
  )
  return {
    accepted,
    others,
    unavailable: () => unavailable,
    unconfirmed: () => unconfirmed,
    goesOn: (more) =>
      Effect.suspend(() => {
        const before = accepted.length
        return World.until(
          Effect.sync(() => ({ accepted: accepted.length, unavailable, others })),
          (now) => now.accepted >= before + more,
          PATIENCE,
        )
      }),
    stop: Effect.suspend(() => {
      isStopped = true
      return Effect.asVoid(Effect.orDie(Fiber.join(fiber)))
    }),
  } satisfies Load
})

export interface Told {
  readonly id: string
  readonly accepted: number
  readonly delivered: number
}

/** Returns for each mail of a cell how often its log says that it was accepted and delivered. */
export const histories = (cell: string) =>
  inCell(
    cell,
    Effect.flatMap(PgClient.PgClient, (sql) =>
      Effect.orDie(sql<Told>`
        SELECT stream_id AS id, (count(*) FILTER (WHERE type = 'EmailQueued'))::int AS accepted,
          (count(*) FILTER (WHERE type = 'EmailDelivered'))::int AS delivered
        FROM events WHERE stream = 'email' GROUP BY stream_id`),
    ),
  )

/** Waits until all mail in the log of a cell is delivered, checks that it is once, and returns accepted mail that is not there. */
export const missingIn = Effect.fnUntraced(function* (cell: string, accepted: ReadonlyArray<string>) {
  const told = yield* World.until(histories(cell), (rows) => rows.every(({ delivered }) => delivered > 0), PATIENCE)
  assert.deepStrictEqual(
    told.filter(({ accepted, delivered }) => accepted !== 1 || delivered !== 1),
    [],
  )
  const [inLog, answered] = [new Set(told.map(({ id }) => id)), new Set(accepted)]
  assert.lengthOf(answered, accepted.length)
  assert.deepStrictEqual(
    told.filter(({ id }) => !answered.has(id)),
    [],
  )
  for (const { accepted, final, in_flight, mismatched } of yield* inCell(cell, Conservation.emails()))
    assert.deepStrictEqual([final + in_flight, mismatched], [accepted, 0])
  return accepted.filter((id) => !inLog.has(id))
})
