import { sendRequest, hangUp, open, type Endpoint } from "../../harness/http.ts"
import { failedExpectations, type Scenario, sleep } from "../../harness/Scenario.ts"
import type { Customer } from "../../harness/Target.ts"

/** Maximum time until a stream ends; the contract says one second, and a busy machine needs longer. */
const ENDS_WITHIN_MS = 3_000
/** Time after which a request is admitted again, also by a server that was held up. */
const SLOW_MS = 2_000

/** Opens streams and requests with a key that is revoked while they are in progress. */
export const revokedKey: Scenario = {
  name: "requests of a revoked key",
  load: "event streams and half-sent requests of a key that is then revoked",
  run: async ({ from, size, target }) => {
    const customer = await target.customer()
    const created = await sendRequest(target.http, "POST", "/v1/api-keys", {
      key: customer.key,
      body: { name: "soon revoked", scopes: ["admin"] },
    })
    const { id, key } = created.json as { readonly id: string; readonly key: string }
    const streams = await repeat(size(3, 10), () => openAndSend(target.http, from(0), stream(key)))
    const requests = await repeat(size(3, 10), () => openAndSend(target.http, from(0), halfSend(customer, key)))
    await sleep(SLOW_MS)
    const opened = streams.filter((connection) => connection.received().startsWith("HTTP/1.1 200")).length
    const revoked = await sendRequest(target.http, "DELETE", `/v1/api-keys/${id}`, { key: customer.key })
    const startedAt = performance.now()
    for (const { socket } of requests) socket.write(REST)
    const isOver = () =>
      streams.every((connection) => connection.closed() || connection.received().endsWith("0\r\n\r\n"))
    while (!isOver() && performance.now() - startedAt < ENDS_WITHIN_MS) await sleep(20)
    const took = Math.round(performance.now() - startedAt)
    await sleep(500)
    const statuses = requests.map((connection) => /^HTTP\/1\.1 (\d+)/u.exec(connection.received())?.[1] ?? "closed")
    const ended = isOver()
    hangUp([...streams, ...requests])
    return {
      summary: `${opened} streams ${ended ? `ended after ${took} ms` : "go on"}; requests ${[...new Set(statuses)].join(", ")}`,
      failures: failedExpectations([
        [opened === streams.length, "a stream could not be opened"],
        [revoked.status === 200, `the key could not be revoked: ${revoked.status}`],
        [ended, `a stream goes on ${ENDS_WITHIN_MS} ms after its key was revoked`],
        [!statuses.includes("200"), "a request of a revoked key was accepted"],
      ]),
    }
  },
}

const repeat = <A>(count: number, one: () => Promise<A>) => Promise.all(Array.from({ length: count }, one))

const openAndSend = async (endpoint: Endpoint, from: string | undefined, head: string) => {
  const connection = await open(endpoint, { from })
  connection.socket.write(head)
  return connection
}

const stream = (key: string) => `GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`

const REST = '"text":"x"}'
const halfSend = ({ domain }: Customer, key: string) => {
  const body = `{"from":"hi@${domain}","to":"ana@example.org","subject":"x",`
  return `POST /v1/email/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length + REST.length}\r\nConnection: close\r\n\r\n${body}`
}
