import { createHash, randomUUID } from "node:crypto"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import pg from "pg"

/** Parsed request. */
export interface ParsedRequest {
  readonly id: string
  /** SHA-256 of the API key, as the table of keys stores it. */
  readonly hash: string
  /** Body as received; checked only by JSON.parse. */
  readonly body: object
  readonly created_at: string
}
/** Returns the event of a message. */
export const dataOf = ({ body, created_at, id }: ParsedRequest): string => JSON.stringify({ ...body, id, created_at })
export type Verdict = "queued" | "unauthorized" | "rate_limited"
export type Accept = (request: ParsedRequest) => Promise<Verdict>

const STATUS = { queued: 200, unauthorized: 401, rate_limited: 429 } as const
const CONNECTIONS = 10

/** Serves with plain node:http, and prints its port for the parent process. */
export const serve = (make: (pool: pg.Pool) => Accept, newId: () => string = randomUUID): void => {
  const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: CONNECTIONS })
  const accept = make(pool)
  const server = http.createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as object
      const id = newId()
      const created_at = new Date().toISOString()
      const key = (request.headers.authorization ?? "").slice("Bearer ".length)
      const hash = createHash("sha256").update(key).digest("hex")
      accept({ id, hash, body, created_at }).then(
        (verdict) => answer(response, STATUS[verdict], { id, status: verdict, created_at }),
        (error: unknown) => answer(response, 500, { error: String(error) }),
      )
    })
  })
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
}

const answer = (response: http.ServerResponse, status: number, body: unknown): void => {
  const text = JSON.stringify(body)
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text)
}

// An end by itself, so that Node writes a profile if it is told to.
process.once("SIGTERM", () => process.exit())
