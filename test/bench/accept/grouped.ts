// Baseline (b): commits all waiting requests in one transaction, and validates nothing.
import { dataOf, serve } from "./floor.ts"
import { grouped } from "./group.ts"
import { ADD_ALL, APPEND_ALL } from "./statements.ts"

serve(
  grouped(async (client, queued, accounts) => {
    const ids = queued.map(({ id }) => id)
    await client.query({ ...APPEND_ALL, values: [accounts, ids, queued.map(dataOf)] })
    await client.query({ ...ADD_ALL, values: [ids] })
  }),
)
