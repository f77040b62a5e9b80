// Baseline (b): commits all waiting requests in one transaction, and validates nothing.
import { type ParsedRequest, serve, type Verdict } from "./floor.ts"
import { ADD_ALL, ADMIT_ALL, APPEND_ALL } from "./statements.ts"

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

const MAX_TOGETHER = 100

serve((pool) => {
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
      if (queued.length > 0) {
        const accounts = queued.map(({ hash }) => keys.get(hash)?.account_id)
        const ids = queued.map(({ id }) => id)
        await client.query({ ...APPEND_ALL, values: [accounts, ids, queued.map(({ data }) => data)] })
        await client.query({ ...ADD_ALL, values: [ids] })
      }
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
})
