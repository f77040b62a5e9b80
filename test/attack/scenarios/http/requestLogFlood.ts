import { Redacted } from "effect"
import * as http from "node:http"
import pg from "pg"
import { urlInTestCell } from "../../../support/cells/testCell.ts"
import { sendRequest } from "../../harness/http.ts"
import { failedExpectations, type Scenario, sleep, summarize } from "../../harness/Scenario.ts"
import type { Target } from "../../harness/Target.ts"

const MIB = 1024 * 1024
/** Two minutes of a key's bytes, because the flood may cross into another one, and what other requests wrote before. */
const MAX_GROWTH_MIB = 4.5
const AT_ONCE = 16
const SETTLED_MS = 1_000
/** Time after which a slow machine sends no more. */
const FLOOD_MS = { short: 7_000, long: 25_000 }
/** As much text as the log keeps of a body, in words that are no secrets and that compress badly. */
const TEXTS = 40
const WORDS = 44
const LETTERS = "abcdefghijklmnopqrstuvwxyz"

export const requestLogFlood: Scenario = {
  // threat: filled-disk
  name: "refused requests fill the log",
  load: "18,000 refused requests of one key with bodies of 16 KB",
  bounds: { memory_mib: 400 },
  run: async ({ dice, size, target }) => {
    const { account_id, key } = await target.customer()
    const database = new pg.Client({
      connectionString: Redacted.value(urlInTestCell(target.deployment.database.url)),
    })
    await database.connect()
    try {
      const before = await bytesOf(database)
      const text = () => Array.from({ length: WORDS }, () => dice.text(8, LETTERS)).join(" ")
      const body = Buffer.from(JSON.stringify({ tags: Array.from({ length: TEXTS }, text) }))
      const until = performance.now() + size(FLOOD_MS.short, FLOOD_MS.long)
      const statuses = await flood(target, key, body, { count: size(400, 18_000), until })
      const sent = statuses.length
      const growth = ((await settled(database)) - before) / MIB
      const [kept, notKept] = [await keptOf(database, account_id), await notKeptOf(target, key)]
      return {
        summary: `${summarize(statuses)}; ${growth.toFixed(1)} MiB written, ${kept} kept, ${notKept} counted`,
        failures: failedExpectations([
          [statuses.every((status) => status === 400), "a request was not refused as expected"],
          [growth <= MAX_GROWTH_MIB, `the log grew by ${growth.toFixed(1)} MiB, more than ${MAX_GROWTH_MIB}`],
          [kept + notKept === sent, `of ${sent} requests ${kept} were kept and ${notKept} counted`],
        ]),
      }
    } finally {
      await database.end()
    }
  },
}

/** Sends requests without a sender or recipients over a few connections, and returns the statuses of their answers. */
const flood = async (
  { http: { host, port } }: Target,
  key: string,
  body: Buffer,
  { count, until }: { readonly count: number; readonly until: number },
): Promise<ReadonlyArray<number>> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": String(body.length),
  }
  const request = () =>
    new Promise<number>((resolve) => {
      const options = { host, port, agent, headers, method: "POST", path: "/v1/email/send" }
      const sending = http.request(options, (response) => {
        response.resume()
        response.on("end", () => resolve(response.statusCode ?? 0))
      })
      sending.on("error", () => resolve(0))
      sending.end(body)
    })
  const statuses: Array<number> = []
  let next = 0
  const client = async () => {
    while (next++ < count && performance.now() < until) statuses.push(await request())
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  agent.destroy()
  return statuses
}

/** Function of the size of a table, which lies on a node where there is Citus. */
const SIZE = "SELECT coalesce(to_regproc('citus_total_relation_size')::text, 'pg_total_relation_size') AS size"

const bytesOf = async (database: pg.Client): Promise<number> => {
  const [found] = (await database.query<{ readonly size: string }>(SIZE)).rows
  const { rows } = await database.query<{ readonly bytes: string }>(`
    SELECT sum(${found?.size}(inhrelid)) AS bytes FROM pg_inherits WHERE inhparent = 'request_log'::regclass`)
  return Number(rows[0]?.bytes ?? 0)
}

/** Returns the size of the log once it grows no more. */
const settled = async (database: pg.Client): Promise<number> => {
  let size = -1
  for (let next = await bytesOf(database); next !== size; next = await bytesOf(database)) {
    size = next
    await sleep(SETTLED_MS)
  }
  return size
}

const keptOf = async (database: pg.Client, account_id: string): Promise<number> => {
  const { rows } = await database.query<{ readonly count: string }>(
    "SELECT count(*) FROM request_log WHERE account_id = $1 AND path = '/v1/email/send'",
    [account_id],
  )
  return Number(rows[0]?.count)
}

/** Returns how many requests the log tells that it did not keep. */
const notKeptOf = async ({ http }: Target, key: string): Promise<number> => {
  const { json } = await sendRequest(http, "GET", "/v1/requests?limit=1", { key })
  const days = (json?.not_kept ?? []) as ReadonlyArray<{ readonly count: number }>
  return days.reduce((sum, { count }) => sum + count, 0)
}
