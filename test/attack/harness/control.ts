import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** An idle server in a separate process. Its response time is the noise of the machine. */
const server = createServer((_, response) => response.end("ok"))
server.keepAliveTimeout = 0
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${port}\n`)
})
process.on("disconnect", () => process.exit())
