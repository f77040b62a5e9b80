// Floor (b): the same by the fastest hand, without a look at what it accepts: all that wait, in one transaction.
import { type Asked, serve, type Verdict } from "./floor.ts"
import { ADD_ALL, ADMIT_ALL, APPEND_ALL } from "./statements.ts"

interface Waiting extends Asked {
  readonly resolve: (verdict: Verdict) => void
  readonly reject: (cause: unknown) => void
}
interface Key {
  readonly hash: string
  readonly account_id: string
  readonly room: number
  readonly count: number
}

const MAX_TOGETHER = 100

serve((pool) => {
  const queue: Array<Waiting> = []
  let flying = false

  const commit = async (asked: ReadonlyArray<Waiting>): Promise<ReadonlyArray<Verdict>> => {
    const requests = new Map<string, number>()
    for (const { hash } of asked) requests.set(hash, (requests.get(hash) ?? 0) + 1)
    const client = await pool.connect()
    try {
      await client.query("BEGIN")
      const admitted = await client.query({ ...ADMIT_ALL, values: [[...requests.keys()], [...requests.values()]] })
      const keys = new Map((admitted.rows as ReadonlyArray<Key>).map((key) => [key.hash, key]))
      const verdicts = asked.map(({ hash }): Verdict => {
        const key = keys.get(hash)
        return key === undefined ? "unauthorized" : key.count > key.room ? "rate_limited" : "queued"
      })
      const queued = asked.filter((_, n) => verdicts[n] === "queued")
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

  const fly = async (): Promise<void> => {
    flying = true
    while (queue.length > 0) {
      const asked = queue.splice(0, MAX_TOGETHER)
      try {
        const verdicts = await commit(asked)
        for (const [n, { resolve }] of asked.entries()) resolve(verdicts[n] ?? "unauthorized")
      } catch (cause) {
        for (const { reject } of asked) reject(cause)
      }
    }
    flying = false
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      queue.push({ ...asked, resolve, reject })
      if (!flying) void fly()
    })
})
