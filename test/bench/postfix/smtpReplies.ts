import type * as net from "node:net"

/** A whole reply: its last line has a space behind the code. */
const REPLY = /^(\d\d\d) .*\r\n/mu

/** Returns the next reply, and fails if its code is another one. */
export const expect = (socket: net.Socket, code: string, count = 1): Promise<void> =>
  new Promise((resolve, reject) => {
    let text = ""
    let left = count
    const done = (problem?: string) => {
      socket.removeAllListeners("data").removeAllListeners("close").removeAllListeners("error")
      // An idle connection needs an error listener, or its error ends the process.
      socket.on("error", () => {})
      if (problem === undefined) resolve()
      else reject(new Error(problem))
    }
    socket.on("error", (error) => done(error.message))
    socket.on("close", () => done("the server closed a connection"))
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      for (let reply = REPLY.exec(text); reply !== null; reply = REPLY.exec(text)) {
        text = text.slice(reply.index + reply[0].length)
        const wanted = left > 1 ? "250" : code
        if (reply[1] !== wanted) return done(`${reply[0].trim()} where ${wanted} was expected`)
        if (--left === 0) return done()
      }
    })
  })
