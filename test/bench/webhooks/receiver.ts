// An endpoint in a process of its own: answers at once, or only at the end for what is sent to /hang. Writes down when each call
// came, and tells them when it is asked.
import * as http from "node:http"
import type { AddressInfo } from "node:net"

const arrived = new Map<string, Array<readonly [id: string, at: number]>>()
/** Whoever is done lets them go, or a worker that is to stop would wait for them. */
const hanging: Array<http.ServerResponse> = []

const server = http.createServer((request, response) => {
  const path = request.url ?? ""
  if (path === "/arrived") {
    response.end(JSON.stringify(Object.fromEntries(arrived)))
    return
  }
  if (path === "/forget") {
    arrived.clear()
    for (const each of hanging.splice(0)) each.writeHead(204).end()
    response.end()
    return
  }
  const calls = arrived.get(path) ?? []
  calls.push([String(request.headers["webhook-id"]), Date.now()])
  arrived.set(path, calls)
  request.resume()
  if (path === "/hang") {
    hanging.push(response)
    return
  }
  request.on("end", () => response.writeHead(204).end())
})

server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
