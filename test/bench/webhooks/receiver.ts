// An endpoint in a process of its own: answers at once, or never for what is sent to /hang. Writes down when each call
// came, and tells them when it is asked.
import * as http from "node:http"
import type { AddressInfo } from "node:net"

const arrived = new Map<string, Array<readonly [id: string, at: number]>>()

const server = http.createServer((request, response) => {
  const path = request.url ?? ""
  if (path === "/arrived") {
    response.end(JSON.stringify(Object.fromEntries(arrived)))
    return
  }
  if (path === "/forget") {
    arrived.clear()
    response.end()
    return
  }
  const calls = arrived.get(path) ?? []
  calls.push([String(request.headers["webhook-id"]), Date.now()])
  arrived.set(path, calls)
  request.resume()
  if (path === "/hang") return
  request.on("end", () => response.writeHead(204).end())
})

server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
