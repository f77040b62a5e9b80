// Baseline (c): commits all waiting requests together, as (b) does, but writes the rows that Waybill writes. It validates
// nothing, needs one statement for a batch, and overlaps two batches. The difference to (b) is what these rows cost.
import { connected } from "../byHand/connected.ts"
import { inBatches } from "../byHand/inBatches.ts"
import { messageOf, type Request } from "../byHand/request.ts"
import * as Rows from "../byHand/Rows.ts"
import { type ParsedRequest, serve, type Verdict } from "./floor.ts"
import { admission } from "./statements.ts"

const MOST = 100
/** Batches at once, and requests from which the second one starts. One batch at a time is slower on cores that are free. */
const AT_ONCE = 2
const LEAST = 16

/** Admits and inserts, and wakes workers once. Returns the hashes of the keys that are admitted. */
const ADMIT_AND_WRITE = {
  name: "admit_and_write",
  text: Rows.inserting(
    `${admission("$1", "$2")}, admitted AS MATERIALIZED (
      SELECT hash AS key_hash, account_id, md5(account_id)::uuid AS account_key
      FROM key JOIN counted ON bucket = id || '/send' WHERE count <= allowed
    ), new AS MATERIALIZED (
      SELECT admitted.account_id, admitted.account_key, row.*
      FROM unnest($3::text[], ${Rows.parametersFrom(4)}) AS row(key_hash, ${Rows.COLUMNS}) JOIN admitted USING (key_hash)
    )`,
    "SELECT key_hash, (SELECT id FROM graphile_worker.add_job('drain_deliveries')) FROM admitted",
  ),
}

interface Waiting {
  readonly hash: string
  readonly row: Rows.Accepted
  readonly resolve: (verdict: Verdict) => void
}

const url = process.env["DATABASE_URL"] ?? ""
const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => connected(url)))

const accept = inBatches<Waiting>({ most: MOST, atOnce: AT_ONCE, least: LEAST }, async (batch) => {
  const client = clients.pop()
  if (client === undefined) throw new Error("more batches than connections")
  const requests = new Map<string, number>()
  for (const { hash } of batch) requests.set(hash, (requests.get(hash) ?? 0) + 1)
  const keys = [[...requests.keys()], [...requests.values()], batch.map(({ hash }) => hash)]
  const columns = Rows.columnsOf(batch.map(({ row }) => row))
  const values = [...keys, ...columns]
  const { rows } = await client.query<{ readonly key_hash: string }>({ ...ADMIT_AND_WRITE, values })
  clients.push(client)
  const admitted = new Set(rows.map(({ key_hash }) => key_hash))
  for (const { hash, resolve } of batch) resolve(admitted.has(hash) ? "queued" : "rate_limited")
})

const take = ({ body, hash, id }: ParsedRequest): Promise<Verdict> => {
  const [message, tags] = messageOf(body as Request)
  const row = Rows.accepted({ ...message, id }, tags)
  return new Promise((resolve) => accept({ hash, row, resolve }))
}

serve(() => take, Rows.newId)
