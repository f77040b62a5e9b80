import pg from "pg"

/** Opens a connection whose statements find all rows by their keys, with a plan that is made once, as Waybill's do. */
export const connected = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off")
  return client
}
