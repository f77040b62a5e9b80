// Baseline (c): commits all waiting requests in one transaction, as (b) does, but writes the rows that Waybill writes. It
// validates nothing. The difference to (b) is what these rows cost.
import { createHash, randomBytes } from "node:crypto"
import { zstdCompressSync } from "node:zlib"
import { type ParsedRequest, serve } from "./floor.ts"
import { grouped } from "./group.ts"
import { WRITE_ALL } from "./statements.ts"

const LOWEST_63_BITS = 0x7fff_ffff_ffff_ffffn
const EPOCH_DIGITS = 12

/** Bodies of the benchmark differ from the first one in a few digits, which serves as their dictionary. */
let dictionary: Buffer | undefined
const dictionaryId = randomBytes(16)

const keyOf = (hash: string): string => String(BigInt(`0x${hash.slice(0, 16)}`) & LOWEST_63_BITS)

/** Time-ordered, as Waybill's ids are. */
const uuid = (id: string): string =>
  Date.now().toString(16).padStart(EPOCH_DIGITS, "0") + id.replaceAll("-", "").slice(EPOCH_DIGITS)

interface Message {
  readonly subject: string
  readonly html: string
  readonly text: string
}

const rowOf = ({ data, id }: ParsedRequest, account_id: string) => {
  const { html, text, subject, ...message } = JSON.parse(data) as Message
  const body = Buffer.from(JSON.stringify({ html, text }))
  dictionary ??= body
  const hash = createHash("sha256").update(body).digest()
  const packed = Object.values({ ...message, subject, hash: hash.toString("hex") })
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("\t")
  return {
    account_id,
    id,
    packed,
    hash,
    body: zstdCompressSync(body, { dictionary, pledgedSrcSize: body.length }),
    key: uuid(id),
    number: keyOf(hash.toString("hex")),
    subject: subject.toLowerCase(),
  }
}

serve(
  grouped(async (client, queued, accounts) => {
    const rows = queued.map((waiting, nth) => rowOf(waiting, accounts[nth] ?? ""))
    const columns = ["account_id", "id", "packed", "hash", "body", "key", "number", "subject"] as const
    const values = columns.map((name) => rows.map((row) => row[name]))
    await client.query({ ...WRITE_ALL, values: [...values, dictionaryId, dictionary] })
  }),
)
