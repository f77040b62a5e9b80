// SMTP and LMTP server that accepts everything at little cost, so that the senders are measured. Reports to its parent which
// messages have arrived, and when. With an argument it answers each message only after so many milliseconds.
import * as net from "node:net"

type Arrival = readonly [id: string, at: number, isSigned: boolean]
/** What verifying milters find of a signed mail. */
const VERIFIED = [/dkim=pass/u, /dmarc=pass/u]
export interface Arrivals {
  /**
   * Message-IDs with the time of their final dot, in milliseconds since the epoch, and whether there is a signature, over
   * LMTP a verified one.
   */
  readonly arrived: ReadonlyArray<Arrival>
}

const REPORT_EVERY_MILLIS = 5
const END = "\r\n.\r\n"
const ANSWER_AFTER_MILLIS = Number(process.argv[2] ?? 0)

let arrived: Array<Arrival> = []
setInterval(() => {
  if (arrived.length === 0) return
  process.send?.({ arrived } satisfies Arrivals)
  arrived = []
}, REPORT_EVERY_MILLIS)
const now = () => performance.timeOrigin + performance.now()

const serve = (socket: net.Socket): void => {
  let text = ""
  let inBody = false
  let isLmtp = false
  let recipients = 0
  const say = (reply: string) => socket.write(`${reply}\r\n`)
  const takeBody = (): boolean => {
    const end = text.indexOf(END)
    if (end === -1) return false
    const at = text.search(/^message-id:/imu)
    const id = /<([^>]+)>/u.exec(text.slice(at, at + 500))?.[1] ?? ""
    const head = () => text.slice(0, text.indexOf("\r\n\r\n"))
    const isSigned = isLmtp
      ? VERIFIED.every((finding) => finding.test(head()))
      : text.lastIndexOf("DKIM-Signature: v=1", at) >= 0
    arrived.push([id, now(), isSigned])
    text = text.slice(end + END.length)
    inBody = false
    // LMTP answers for each recipient (RFC 2033, section 4.2).
    for (let left = isLmtp ? recipients : 1; left > 0; left--) {
      if (ANSWER_AFTER_MILLIS === 0) say("250 2.0.0 taken")
      else setTimeout(() => say("250 2.0.0 taken"), ANSWER_AFTER_MILLIS)
    }
    recipients = 0
    return true
  }
  const takeCommand = (): boolean => {
    const end = text.indexOf("\r\n")
    if (end === -1) return false
    const verb = text.slice(0, 4).toUpperCase()
    text = text.slice(end + 2)
    inBody = verb === "DATA"
    if (verb === "LHLO") isLmtp = true
    if (verb === "RCPT") recipients++
    if (verb === "EHLO" || verb === "LHLO")
      say("250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES")
    else if (verb === "DATA") say("354 go ahead")
    else if (verb === "QUIT") socket.end("221 2.0.0 bye\r\n")
    else say("250 2.1.0 fine")
    return true
  }
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
    // Answers a group of commands together, as servers with PIPELINING do (RFC 2920 §3.2).
    socket.cork()
    while (inBody ? takeBody() : takeCommand());
    socket.uncork()
  })
  say("220 sink.test ESMTP")
}

const server = net.createServer(serve)
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.({ port: typeof address === "object" && address !== null ? address.port : 0 })
})
process.on("disconnect", () => process.exit(0))
