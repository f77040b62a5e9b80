import { hangUp, open } from "../../harness/http.ts"
import { type Scenario, sleep } from "../../harness/Scenario.ts"

const REQUESTS = 1_500
const REQUEST = "GET /docs HTTP/1.1\r\nHost: x\r\n\r\n"
const PAUSE_MS = 1_000

export const pipelined: Scenario = {
  name: "pipelined requests",
  load: `${REQUESTS} requests for /docs in 45 KB on one connection that reads nothing, once a second`,
  run: async ({ from, size, target }) => {
    const count = size(1, 6)
    const connections = []
    for (let nth = 0; nth < count; nth++) {
      const connection = await open(target.http, { from: from(nth), reads: false })
      connection.socket.write(REQUEST.repeat(REQUESTS))
      connections.push(connection)
      await sleep(PAUSE_MS)
    }
    const closed = connections.filter((connection) => connection.closed()).length
    hangUp(connections)
    return { summary: `${count - closed} connections kept, ${closed} closed`, failures: [] }
  },
}
