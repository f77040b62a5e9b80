// Loaded by `node --import` into a service under test: reports over a socket the longest processor time of the main
// thread between two turns of its event loop, since the report before.
import { createServer } from "node:net"
import { isMainThread } from "node:worker_threads"
import { longestTurn } from "./longestTurn.ts"

if (isMainThread) {
  let longest = longestTurn()
  const server = createServer((socket) => {
    socket.on("error", () => undefined)
    socket.on("data", () => {
      socket.write(`${longest()}\n`)
      longest = longestTurn()
    })
  })
  server.listen(Number(process.env.STALL_MONITOR_PORT), "127.0.0.1")
  server.unref()
}
