import * as net from "node:net"
import { once } from "node:events"
import { sendRequest } from "../../harness/http.ts"
import { cpuMs } from "../../harness/processes.ts"
import { failedExpectations, type Scenario, sleep } from "../../harness/Scenario.ts"

const HINT = "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"
const HINTS = HINT.repeat(400)
/** Maximum time of a call. Interim answers are counted, so that the call ends long before its deadline. */
const MAX_CALL_MS = 5_000
const MAX_CPU_MS = 2_500

/** Starts an endpoint that answers every call with an endless series of `103 Early Hints`. */
export const webhookHints: Scenario = {
  name: "webhook that answers with early hints",
  load: "a call to an endpoint that sends 103 as fast as it is read, and never ends",
  run: async ({ target }) => {
    const customer = await target.customer()
    let [bytes, connected_ms] = [0, 0]
    const server = net.createServer((socket) => {
      const startedAt = performance.now()
      const writeHints = () => {
        while (!socket.destroyed && socket.write(HINTS)) bytes += HINTS.length
      }
      socket.on("error", () => undefined)
      socket.on("drain", writeHints)
      socket.on("close", () => (connected_ms = performance.now() - startedAt))
      socket.resume()
      writeHints()
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as net.AddressInfo
    const sockets: Array<net.Socket> = []
    server.on("connection", (socket) => sockets.push(socket))
    try {
      const body = { url: `http://127.0.0.1:${port}/hook`, events: ["*"] }
      const { json } = await sendRequest(target.http, "POST", "/v1/webhooks", { key: customer.key, body })
      const before = cpuMs(target.pid)
      await sendRequest(target.http, "POST", `/v1/webhooks/${json.id}/test`, { key: customer.key, body: {} })
      const startedAt = performance.now()
      while (connected_ms === 0 && performance.now() - startedAt < MAX_CALL_MS) await sleep(50)
      const after = cpuMs(target.pid)
      const used = before === undefined || after === undefined ? 0 : after - before
      await sendRequest(target.http, "DELETE", `/v1/webhooks/${json.id}`, { key: customer.key })
      return {
        summary: `${connected_ms === 0 ? "still read" : `ended after ${Math.round(connected_ms)} ms`}, ${Math.round(bytes / 1e6)} MB, ${used} ms of processor`,
        failures: failedExpectations([
          [sockets.length > 0, "the endpoint was not called"],
          [connected_ms > 0, `the endpoint is still read after ${MAX_CALL_MS} ms`],
          [used < MAX_CPU_MS, `the call took ${used} ms of processor`],
        ]),
      }
    } finally {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  },
}
