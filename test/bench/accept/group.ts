import type pg from "pg"
import type { Accept, ParsedRequest, Verdict } from "./floor.ts"
import { ADMIT_ALL } from "./statements.ts"

interface Waiting extends ParsedRequest {
  readonly resolve: (verdict: Verdict) => void
  readonly reject: (cause: unknown) => void
}
interface Key {
  readonly hash: string
  readonly account_id: string
  readonly allowed: number
  readonly count: number
}

/** Writes the rows of requests that are queued, each with its account, inside a transaction. */
export type Write = (
  client: pg.PoolClient,
  queued: ReadonlyArray<ParsedRequest>,
  accounts: ReadonlyArray<string>,
) => Promise<void>

const MAX_TOGETHER = 100

/** Admits and writes all waiting requests in one transaction. */
export const grouped =
  (write: Write) =>
  (pool: pg.Pool): Accept => {
    const queue: Array<Waiting> = []
    let committing = false

    const commit = async (batch: ReadonlyArray<Waiting>): Promise<ReadonlyArray<Verdict>> => {
      const requests = new Map<string, number>()
      for (const { hash } of batch) requests.set(hash, (requests.get(hash) ?? 0) + 1)
      const client = await pool.connect()
      try {
        await client.query("BEGIN")
        const admitted = await client.query({ ...ADMIT_ALL, values: [[...requests.keys()], [...requests.values()]] })
        const keys = new Map((admitted.rows as ReadonlyArray<Key>).map((key) => [key.hash, key]))
        const verdicts = batch.map(({ hash }): Verdict => {
          const key = keys.get(hash)
          return key === undefined ? "unauthorized" : key.count > key.allowed ? "rate_limited" : "queued"
        })
        const queued = batch.filter((_, n) => verdicts[n] === "queued")
        if (queued.length > 0)
          await write(
            client,
            queued,
            queued.map(({ hash }) => keys.get(hash)?.account_id ?? ""),
          )
        await client.query("COMMIT")
        return verdicts
      } catch (cause) {
        await client.query("ROLLBACK")
        throw cause
      } finally {
        client.release()
      }
    }

    const commitQueue = async (): Promise<void> => {
      committing = true
      while (queue.length > 0) {
        const batch = queue.splice(0, MAX_TOGETHER)
        try {
          const verdicts = await commit(batch)
          for (const [n, { resolve }] of batch.entries()) resolve(verdicts[n] ?? "unauthorized")
        } catch (cause) {
          for (const { reject } of batch) reject(cause)
        }
      }
      committing = false
    }

    return (request) =>
      new Promise((resolve, reject) => {
        queue.push({ ...request, resolve, reject })
        if (!committing) void commitQueue()
      })
  }
