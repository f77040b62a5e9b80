// npm run bench -- logs [--rows 1000000] [--rounds 300]: pages of the log of small and of large accounts.
import { PgClient } from "@effect/sql-pg"
import * as Id from "@waybill/domain/Id"
import * as Database from "@waybill/store/Database"
import * as EmailLogQuery from "@waybill/store/EmailLogQuery"
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { APART, type Asked, FILTERS } from "./logs/filters.ts"
import { BEGAN_MS, write } from "./logs/mail.ts"
import { freshDatabase, millis, quantile, table, temporaryServer, times } from "./measure.ts"

const SIZES = [10_000, 100_000, 1_000_000, 5_000_000]
const WARM_UP = 20
const PAGE = 20
/** Filters begin in the newest fifth, so that a small account fills the same page. */
const NEWEST = 5
/** The slowest filter is bounded, and slow enough that a few rounds tell. */
const ROUNDS_APART = 10

const { values } = parseArgs({
  options: { rows: { type: "string", default: "100000" }, rounds: { type: "string", default: "200" } },
})
const rows = Number(values.rows)
const sizes = [...SIZES.filter((size) => size < rows), rows]
const accountOf = (size: number) => Id.make("AccountId", BEGAN_MS + size, new Uint8Array(10))

/** One round asks every account in turn, so that what else the machine does strikes all sizes alike. */
const measure = Effect.fnUntraced(function* (of: (n: number) => Asked, rounds: number) {
  const latencies = sizes.map((): Array<number> => [])
  for (let round = -Math.min(WARM_UP, rounds); round < rounds; round++) {
    for (const [nth, size] of sizes.entries()) {
      const asked = of(size - 1 - ((Math.imul(round + WARM_UP, 0x9e37_79b1) >>> 0) % Math.floor(size / NEWEST)))
      const began = performance.now()
      yield* EmailLogQuery.list({ ...asked, account_id: accountOf(size), limit: PAGE })
      if (round >= 0) latencies[nth]?.push(performance.now() - began)
    }
  }
  return latencies.map((each) => ({ p50: quantile(each, 0.5), p99: quantile(each, 0.99) }))
})

const row = (name: string, each: ReadonlyArray<{ readonly p50: number; readonly p99: number }>) => [
  name,
  ...each.flatMap(({ p50, p99 }, nth) => [
    millis(p50),
    millis(p99),
    ...(nth === 0 ? [] : [times(p50 / (each[0]?.p50 ?? p50)), times(p99 / (each[0]?.p99 ?? p99))]),
  ]),
]

const program = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  for (const size of sizes) yield* write(sql, accountOf(size), 0, size)
  const body: Array<ReadonlyArray<string>> = []
  for (const [name, of] of Object.entries(FILTERS)) body.push(row(name, yield* measure(of, Number(values.rounds))))
  for (const [name, of] of Object.entries(APART)) body.push(row(name, yield* measure(of, ROUNDS_APART)))
  const head = sizes.flatMap((size, nth) => [
    `${size.toLocaleString("en-US")}: p50`,
    "p99",
    ...(nth === 0 ? [] : ["p50 x", "p99 x"]),
  ])
  process.stdout.write(`Milliseconds for a page of ${PAGE}, by messages of the account, all in one database\n\n`)
  process.stdout.write(`${table(["", ...head], body)}\n`)
})

await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* temporaryServer()
      const url = yield* Effect.promise(() => freshDatabase(server))
      yield* Effect.provide(program, Database.layer({ url }))
    }),
  ),
)
