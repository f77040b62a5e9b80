// LMTP server that takes every message and throws it away. Reports to its parent how many have arrived, when the last one
// did, and how many of them verifying milters have passed.
import * as net from "node:net"

export interface Arrived {
  readonly mails: number
  readonly verified: number
  /** Time of the last final dot, in milliseconds since the epoch. */
  readonly last: number
}

const REPORT_EVERY_MILLIS = 5
const END = "\r\n.\r\n"
const VERIFIED = [/dkim=pass/u, /dmarc=pass/u]

let mails = 0
let verified = 0
let last = 0
let reported = 0
setInterval(() => {
  if (mails === reported) return
  reported = mails
  process.send?.({ mails, verified, last } satisfies Arrived)
}, REPORT_EVERY_MILLIS)

const serve = (socket: net.Socket): void => {
  let text = ""
  let isInBody = false
  let recipients = 0
  const say = (reply: string) => socket.write(`${reply}\r\n`)
  const takeBody = (): boolean => {
    const end = text.indexOf(END)
    if (end === -1) return false
    const head = text.slice(0, text.indexOf("\r\n\r\n"))
    mails++
    if (VERIFIED.every((finding) => finding.test(head))) verified++
    last = performance.timeOrigin + performance.now()
    text = text.slice(end + END.length)
    isInBody = false
    // LMTP answers for each recipient (RFC 2033, section 4.2).
    for (; recipients > 0; recipients--) say("250 2.0.0 taken")
    return true
  }
  const takeCommand = (): boolean => {
    const end = text.indexOf("\r\n")
    if (end === -1) return false
    const verb = text.slice(0, 4).toUpperCase()
    text = text.slice(end + 2)
    isInBody = verb === "DATA"
    if (verb === "LHLO") say("250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES")
    else if (verb === "DATA") say("354 go ahead")
    else if (verb === "QUIT") socket.end("221 2.0.0 bye\r\n")
    else say("250 2.1.0 fine")
    if (verb === "RCPT") recipients++
    return true
  }
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
    socket.cork()
    while (isInBody ? takeBody() : takeCommand());
    socket.uncork()
  })
  say("220 sink.test LMTP")
}

const server = net.createServer(serve)
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.({ port: typeof address === "object" && address !== null ? address.port : 0 })
})
process.on("disconnect", () => process.exit(0))
