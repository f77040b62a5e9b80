// The work of Waybill by hand: takes a send over HTTP, commits its rows with those of all that wait, signs and sends it,
// and commits the rows of its delivery. It checks nothing, and it does not find its mail again after a crash.
import { generateKeyPairSync } from "node:crypto"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { connected } from "./connected.ts"
import { inBatches } from "./inBatches.ts"
import * as Mail from "./Mail.ts"
import * as Rows from "./Rows.ts"
import { messageOf, type Request } from "./request.ts"
import * as Smtp from "./Smtp.ts"

const MOST = 100
const { DATABASE_URL = "", SINK_PORT, TO_SINK } = process.env

interface Waiting {
  readonly account: Rows.Account
  readonly row: Rows.Accepted
  readonly response: http.ServerResponse
}

const accepting = await connected(DATABASE_URL)
const settling = await connected(DATABASE_URL)
const accounts = new Map<string, Rows.Account>()
const { rows: keys } = await accepting.query<{ readonly account_id: string; readonly key: string }>(
  "SELECT DISTINCT account_id, replace(md5(account_id), '-', '') AS key FROM api_keys",
)
const [only] = keys
if (only === undefined) throw new Error("there is no key")
/** All keys are of one account. A key is looked up, not checked. */
const account: Rows.Account = { id: only.account_id, key: only.key }
const accountOf = (authorization: string): Rows.Account => {
  const known = accounts.get(authorization)
  if (known !== undefined) return known
  accounts.set(authorization, account)
  return account
}

const { privateKey: key } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const send = await Smtp.connect(Number(SINK_PORT), Number(TO_SINK))
const settle = inBatches<Rows.Delivered>({ most: MOST }, (batch) => Rows.settle(settling, batch))

const deliver = ({ account, row: { message } }: Waiting): void =>
  Mail.signed(message, key, (text) =>
    send({
      from: `bounces+${message.id}@${message.domain}`,
      to: message.to,
      text,
      done: () => settle({ account, id: message.id, key: Rows.keyOf(message.id), to: message.to }),
    }),
  )

const accept = inBatches<Waiting>({ most: MOST }, async (batch) => {
  await Rows.insert(
    accepting,
    batch.map(({ row }) => row),
    batch.map(({ account }) => account),
  )
  for (const waiting of batch) {
    const { id, createdAt } = waiting.row.message
    answer(waiting.response, { id, status: "queued", created_at: createdAt })
    deliver(waiting)
  }
})

const answer = (response: http.ServerResponse, body: unknown): void => {
  const text = JSON.stringify(body)
  response.writeHead(200, { "content-type": "application/json", "content-length": text.length }).end(text)
}

const take = (request: http.IncomingMessage, response: http.ServerResponse, bytes: Buffer): void => {
  const row = Rows.accepted(...messageOf(JSON.parse(bytes.toString()) as Request))
  accept({ account: accountOf(request.headers.authorization ?? ""), response, row })
}

const server = http.createServer((request, response) => {
  let first: Buffer | undefined
  const more: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => {
    if (first === undefined) first = chunk
    else more.push(chunk)
  })
  request.on("end", () =>
    take(request, response, more.length === 0 ? (first ?? Buffer.alloc(0)) : Buffer.concat([first as Buffer, ...more])),
  )
})
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
// An end by itself, so that Node writes a profile if it is told to.
process.once("SIGTERM", () => process.exit())
