import { sendRequest, hangUp, open, openMany } from "../../harness/http.ts"
import { failedExpectations, summarize, type Scenario, sleep } from "../../harness/Scenario.ts"

const PER_ADDRESS = 30
/** Number of pipelined requests per connection. */
const REQUESTS = 5
const UNREAD_MS = { short: 1_500, long: 5_000 }

/** Requests the largest public answers and reads nothing. */
export const unreadDocs: Scenario = {
  name: "unread documentation",
  load: "connections that ask for /docs and /openapi.json and read nothing",
  bounds: { memory_mib: 200 },
  run: async ({ from, size, target }) => {
    const count = size(60, 450)
    const connections = await openMany(count, (nth) =>
      open(target.http, { from: from(Math.floor(nth / PER_ADDRESS)), reads: false }),
    )
    try {
      for (const [nth, { socket }] of connections.entries())
        socket.write(
          `GET ${nth % 3 === 0 ? "/openapi.json" : "/docs/api"} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(REQUESTS),
        )
      await sleep(size(UNREAD_MS.short, UNREAD_MS.long))
      const [page, document] = [
        await sendRequest(target.http, "GET", "/docs/api", { from: from(200) }),
        await sendRequest(target.http, "GET", "/openapi.json", { from: from(200) }),
      ]
      return {
        summary: `${summarize(connections.map(({ closed }) => (closed() ? "closed" : "kept")))}; a reader ${page.status}, ${document.status}`,
        failures: failedExpectations([
          [page.status === 200 && document.status === 200, "a reader gets no documentation"],
        ]),
      }
    } finally {
      hangUp(connections)
    }
  },
}
