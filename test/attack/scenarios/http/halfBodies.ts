import { sendRequest, hangUp, open, openMany } from "../../harness/http.ts"
import { failedExpectations, summarize, type Scenario, sleep } from "../../harness/Scenario.ts"

const BODY_BYTES = 9_900_000
const MISSING = 1_000
const PER_ADDRESS = 20
const WRITE_MS = { short: 2_500, long: 6_000 }

/** Sends request bodies of one account that stay incomplete for as long as the service waits. */
export const halfBodies: Scenario = {
  name: "incomplete request bodies",
  load: "sends of 10 MB with a key, each without its last bytes",
  bounds: { memory_mib: 400 },
  run: async ({ from, size, target }) => {
    const { domain, key } = await target.customer()
    const count = size(60, 150)
    const head = `POST /v1/email/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`
    const partialRequest = Buffer.from(`${head}{"text":"`.padEnd(head.length + BODY_BYTES - MISSING, "x"))
    const connections = await openMany(count, async (nth) => {
      const connection = await open(target.http, { from: from(Math.floor(nth / PER_ADDRESS)) })
      connection.socket.write(partialRequest)
      return connection
    })
    try {
      await sleep(size(WRITE_MS.short, WRITE_MS.long))
      const body = { from: `hi@${domain}`, to: "ana@example.org", subject: "x", text: "x" }
      const concurrent = await target.customer().then((other) =>
        sendRequest(target.http, "POST", "/v1/email/send", {
          key: other.key,
          body: { ...body, from: `hi@${other.domain}` },
          from: from(200),
        }),
      )
      const answers = connections.map(
        (connection) =>
          /^HTTP\/1\.1 (\d+)/u.exec(connection.received())?.[1] ?? (connection.closed() ? "closed" : "waits"),
      )
      const refused = connections.filter((connection) => connection.received().startsWith("HTTP/1.1 503"))
      const isPolite = refused.every((connection) => /\r\nretry-after:/iu.test(connection.received()))
      return {
        summary: `${summarize(answers)}; another customer ${concurrent.status}`,
        failures: failedExpectations([
          [concurrent.status === 200, "another customer cannot send a small mail"],
          [isPolite, "a 503 without Retry-After"],
        ]),
      }
    } finally {
      hangUp(connections)
    }
  },
}
