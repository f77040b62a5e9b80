// Loaded by `node --import` into a service under test: reports over a socket the longest processor time of the main
// thread between two turns of its event loop. Time spent waiting for a busy machine does not count.
import { createServer } from "node:net"
import { isMainThread } from "node:worker_threads"

const TICK_MS = 2

if (isMainThread) {
  const spent = () => {
    const { system, user } = process.threadCpuUsage()
    return (system + user) / 1_000
  }
  let before = spent()
  let longest = 0
  const look = () => {
    const now = spent()
    longest = Math.max(longest, now - before)
    before = now
  }
  setInterval(look, TICK_MS).unref()
  const server = createServer((socket) => {
    socket.on("error", () => undefined)
    socket.on("data", () => {
      look()
      socket.write(`${longest}\n`)
      longest = 0
    })
  })
  server.listen(Number(process.env.STALL_MONITOR_PORT), "127.0.0.1")
  server.unref()
}
