// The work of Waybill's worker by hand: claims what is due in one statement for each batch, signs and sends it, and commits
// the rows of the deliveries. It checks nothing, neither recipients nor domains, and renews no lease. Its parent gives it the
// database and the port of the next server as arguments, and a message whenever mail is due.
import * as IdKey from "@waybill/store/postgres/IdKey"
import { generateKeyPairSync } from "node:crypto"
import { zstdDecompressSync } from "node:zlib"
import { connected } from "./connected.ts"
import { inBatches } from "./inBatches.ts"
import * as Mail from "./Mail.ts"
import * as Rows from "./Rows.ts"
import * as Smtp from "./Smtp.ts"

/** Messages of one claim, and messages under way below which the next one is claimed. */
const MOST = 100

/** Numbers of the fields of a packed `EmailQueued`; SQL counts from 1. */
const [CREATED_AT, FROM, TO, SUBJECT, DOMAIN, CONTENT] = [6, 7, 8, 12, 16, 21]

/** Claims mail whose time has come, or mail that was due when it was accepted. */
const claimOf = (state: "NOT ready" | "ready") => ({
  name: `claim ${state}`,
  text: `WITH due AS (
      SELECT id FROM outbox WHERE ${state} AND lease_token IS NULL AND available_at <= now() AND kind = 'delivery'
      ORDER BY available_at LIMIT ${MOST} FOR UPDATE SKIP LOCKED
    ), leased AS (
      UPDATE outbox o SET lease_token = 'by hand', lease_owner = 'by hand', lease_until = now() + interval '1 minute'
      FROM due WHERE o.id = due.id RETURNING o.id, o.account_id
    ) SELECT leased.id, leased.account_id, e.packed, c.bytes
      FROM leased JOIN events e ON e.account_id = leased.account_id AND e.stream_id = leased.id AND e.version = 1
      JOIN content c ON c.account_id = leased.account_id
        AND c.sha256 = decode(left(split_part(e.packed, E'\\t', ${CONTENT + 1}), 64), 'hex')`,
})
const CLAIMS = [claimOf("NOT ready"), claimOf("ready")]

interface Claimed {
  readonly id: string
  readonly account_id: string
  readonly packed: string
  readonly bytes: Buffer
}

const [url = "", port, connections] = process.argv.slice(2)
const claims = await connected(url)
const settling = await connected(url)
const send = await Smtp.connect(Number(port), Number(connections))
const settle = inBatches<Rows.Delivered>({ most: MOST }, (batch) => Rows.settle(settling, batch))
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })

const accounts = new Map<string, Rows.Account>()
const accountOf = (id: string): Rows.Account => {
  const account = accounts.get(id) ?? { id, key: IdKey.of(id) }
  accounts.set(id, account)
  return account
}

let underWay = 0
let isClaiming = false

const claim = async (): Promise<void> => {
  isClaiming = true
  let rows: ReadonlyArray<Claimed> = []
  for (const statement of CLAIMS) if (rows.length === 0) ({ rows } = await claims.query<Claimed>(statement))
  isClaiming = false
  underWay += rows.length
  const bodies = new Map<string, Pick<Mail.Message, "html" | "text">>()
  for (const row of rows) {
    const fields = row.packed.split("\t")
    const hash = fields[CONTENT] ?? ""
    const body = bodies.get(hash) ?? JSON.parse(zstdDecompressSync(row.bytes).toString())
    bodies.set(hash, body)
    deliver(row, fields, body)
  }
  if (rows.length > 0 && underWay < MOST) void claim()
}

const deliver = (
  { account_id, id }: Claimed,
  fields: ReadonlyArray<string>,
  body: Pick<Mail.Message, "html" | "text">,
) => {
  const field = (nth: number) => fields[nth] ?? ""
  const [to, domain] = [field(TO), field(DOMAIN)]
  const mail = { from: field(FROM), to, subject: field(SUBJECT), domain, createdAt: field(CREATED_AT) }
  const done = () => {
    settle({ account: accountOf(account_id), id, key: IdKey.of(id), to })
    underWay--
    if (!isClaiming && underWay < MOST) void claim()
  }
  Mail.signed({ ...mail, ...body, id, replyTo: "", headers: {} }, privateKey, (text) =>
    send({ from: `bounces+${id}@${domain}`, to, text, done }),
  )
}

process.on("message", () => void claim())
process.on("disconnect", () => process.exit())
process.send?.({ ready: true })
