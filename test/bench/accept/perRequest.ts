// Baseline (a): the usual first design, one transaction and one job per request.
import { dataOf, serve } from "./floor.ts"
import { ADMIT, APPEND, WAKE } from "./statements.ts"

serve((pool) => async (request) => {
  const { hash, id } = request
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    const { rows } = await client.query({ ...ADMIT, values: [hash] })
    const key = rows[0] as { readonly account_id: string; readonly allowed: number; readonly count: number } | undefined
    const verdict = key === undefined ? "unauthorized" : key.count > key.allowed ? "rate_limited" : "queued"
    if (key !== undefined && verdict === "queued") {
      await client.query({ ...APPEND, values: [key.account_id, id, dataOf(request)] })
      await client.query(WAKE)
    }
    await client.query("COMMIT")
    return verdict
  } catch (cause) {
    await client.query("ROLLBACK")
    throw cause
  } finally {
    client.release()
  }
})
