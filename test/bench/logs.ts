// npm run bench -- logs [--rows 1000000] [--rounds 300] [--search]: pages of the log of small and of large accounts, and
// searches for parts of texts; with --search only these.
import * as Id from "@waybill/domain/values/Id"
import * as Database from "@waybill/store/database/Database"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { Sql } from "@waybill/store/postgres/Sql"
import { APART, FILTERS } from "./logs/filters.ts"
import { BEGAN_MS, emailId, write } from "./logs/mail.ts"
import { search } from "./logs/search.ts"
import * as Held from "./report/Held.ts"
import * as Measure from "./report/Measure.ts"
import * as TemporaryServer from "./report/TemporaryServer.ts"

const SIZES = [10_000, 100_000, 1_000_000, 5_000_000]
const WARM_UP = 20
const PAGE = 20
/** Filters start in the newest fifth, so that a small account fills the same page. */
const NEWEST = 5
/** Rounds of the slowest filter; its cost is bounded, and a few rounds are enough. */
const ROUNDS_APART = 10

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "100000" },
    rounds: { type: "string", default: "200" },
    json: { type: "boolean" },
    search: { type: "boolean", default: false },
  },
})
const rows = Number(values.rows)
const sizes = [...SIZES.filter((size) => size < rows), rows]
const accountOf = (size: number) => Id.make("AccountId", BEGAN_MS + size, new Uint8Array(10))

/** Queries every account in turn within a round, so that other load on the machine affects all sizes. */
const measure = Effect.fnUntraced(function* (of: (typeof FILTERS)[string], rounds: number) {
  const latencies = sizes.map((): Array<number> => [])
  for (let round = -Math.min(WARM_UP, rounds); round < rounds; round++) {
    for (const [index, size] of sizes.entries()) {
      const nth = size - 1 - ((Math.imul(round + WARM_UP, 0x9e37_79b1) >>> 0) % Math.floor(size / NEWEST))
      const account_id = accountOf(size)
      const query = of(nth, emailId(account_id, nth))
      const began = performance.now()
      yield* EmailLogQuery.list({ ...query, account_id, limit: PAGE })
      if (round >= 0) latencies[index]?.push(performance.now() - began)
    }
  }
  return latencies.map((each) => ({ p50: Measure.quantile(each, 0.5), p99: Measure.quantile(each, 0.99) }))
})

type Latencies = ReadonlyArray<{ readonly p50: number; readonly p99: number }>
const shareOf = (values: ReadonlyArray<number>) => (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN)

const row = (name: string, each: Latencies) => [
  name,
  ...each.flatMap(({ p50, p99 }, nth) => [
    Measure.millis(p50),
    Measure.millis(p99),
    ...(nth === 0 ? [] : [Measure.times(p50 / (each[0]?.p50 ?? p50)), Measure.times(p99 / (each[0]?.p99 ?? p99))]),
  ]),
]

const program = Effect.gen(function* () {
  const sql = yield* Sql
  for (const size of sizes) yield* write(sql, accountOf(size), 0, size)
  const measured = new Map<string, Latencies>()
  for (const [name, of] of Object.entries(FILTERS)) measured.set(name, yield* measure(of, Number(values.rounds)))
  const apart = new Map<string, Latencies>()
  for (const [name, of] of Object.entries(APART)) apart.set(name, yield* measure(of, ROUNDS_APART))
  return { apart, measured }
})

const pages = Effect.scoped(
  Effect.gen(function* () {
    const server = yield* TemporaryServer.temporaryServer()
    const url = yield* Effect.promise(() => TemporaryServer.freshDatabase(server))
    const environment = yield* Effect.promise(() => TemporaryServer.environment(server))
    const { apart, measured } = yield* Effect.provide(program, Database.layer({ url }))
    const head = sizes.flatMap((size, nth) => [
      `${size.toLocaleString("en-US")}: p50`,
      "p99",
      ...(nth === 0 ? [] : ["p50 x", "p99 x"]),
    ])
    const growth = (pick: (latency: Latencies[number]) => number) =>
      Measure.spread([...measured.values()].map((each) => shareOf(each.map(pick))))
    const [first = 0, last = 0] = [sizes[0], sizes.at(-1)].map((size) => size?.toLocaleString("en-US"))
    Measure.answer(
      { page: PAGE, sizes, environment, measured: Object.fromEntries([...measured, ...apart]) },
      [
        `Milliseconds for a page of ${PAGE}, by messages of the account, all in one database.`,
        TemporaryServer.describe(environment),
        "",
        Measure.table(
          ["", ...head],
          [...measured, ...apart].map(([name, each]) => row(name, each)),
        ),
      ].join("\n"),
      [
        {
          what: `a page's p50 at ${last} messages against ${first}, over ${measured.size} filters`,
          measured: growth(({ p50 }) => p50),
          unit: "times",
        },
        {
          what: `a page's p99 at ${last} messages against ${first}, over ${measured.size} filters`,
          measured: growth(({ p99 }) => p99),
          unit: "times",
          atMost: 1.5,
        },
      ],
    )
  }),
)

try {
  if (!values.search) await Effect.runPromise(pages)
  if (values.json !== true) await search(Number(values.rounds))
} finally {
  await Held.releaseAll()
}
