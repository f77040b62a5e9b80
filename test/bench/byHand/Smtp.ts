// SMTP connections that stay open. The commands of the next message go out with the end of the last one, so that a message
// costs one round trip.
import * as net from "node:net"

interface Outgoing {
  readonly from: string
  readonly to: string
  /** In ASCII. */
  readonly text: string
  readonly done: () => void
}

/** Replies of a message: to MAIL, RCPT and DATA, and to its end. */
const [TO_DATA, TO_END] = [2, 3]

/** Messages that are sent before their places in the queue are freed. */
const FORGOTTEN_AT_ONCE = 1_000

const envelope = ({ from, to }: Outgoing) => `MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`
const body = ({ text }: Outgoing) => `${text.includes("\n.") ? text.replaceAll("\r\n.", "\r\n..") : text}.\r\n`

/** Opens connections, and returns a function that sends a message on the next free one. */
export const connect = async (port: number, count: number): Promise<(mail: Outgoing) => void> => {
  const waiting: Array<Outgoing> = []
  let first = 0
  const next = (): Outgoing | undefined => {
    const mail = waiting[first]
    if (mail === undefined) return undefined
    if (++first === FORGOTTEN_AT_ONCE) waiting.splice(0, first)
    first %= FORGOTTEN_AT_ONCE
    return mail
  }
  const idle: Array<(mail: Outgoing) => void> = []

  const open = async (): Promise<void> => {
    const socket = net.connect({ port, host: "127.0.0.1", noDelay: true })
    await new Promise((resolve, reject) => socket.once("data", resolve).once("error", reject))
    socket.write("EHLO byhand.acme.test\r\n")
    await new Promise((resolve) => socket.once("data", resolve))
    let current: Outgoing | undefined
    let following: Outgoing | undefined
    let replies = 0
    let text = ""
    const begin = (mail: Outgoing) => {
      current = mail
      socket.write(envelope(mail), "latin1")
    }
    const take = (line: string): void => {
      if (current === undefined) throw new Error(`a reply to nothing: ${line}`)
      const nth = replies++
      if (!line.startsWith(nth === TO_DATA ? "354" : "250")) throw new Error(line)
      if (nth === TO_DATA) {
        following = next()
        socket.write(following === undefined ? body(current) : body(current) + envelope(following), "latin1")
      } else if (nth === TO_END) {
        const { done } = current
        replies = 0
        current = following
        following = undefined
        if (current === undefined) {
          const mail = next()
          if (mail === undefined) idle.push(begin)
          else begin(mail)
        }
        done()
      }
    }
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      let at = 0
      for (let end = text.indexOf("\r\n"); end >= 0; end = text.indexOf("\r\n", at)) {
        take(text.slice(at, end))
        at = end + 2
      }
      text = text.slice(at)
    })
    socket.on("close", () => {
      throw new Error("the next server closed a connection")
    })
    idle.push(begin)
  }
  await Promise.all(Array.from({ length: count }, open))
  return (mail) => {
    const begin = idle.pop()
    if (begin === undefined) waiting.push(mail)
    else begin(mail)
  }
}
