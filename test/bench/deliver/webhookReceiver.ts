// Endpoint in a process of its own: answers at once, except calls to /hang, which it holds. Records the arrival of each
// call and reports them at /arrived.
import * as http from "node:http"
import type { AddressInfo } from "node:net"

const arrived = new Map<string, Array<readonly [id: string, at: number]>>()
/** Held calls; /forget answers them, or a worker that stops would wait for them. */
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
