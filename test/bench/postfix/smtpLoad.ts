// Load generator of SMTP in a process of its own: one loop per connection, which sends the next message as soon as the
// last one is accepted. The messages are those that Waybill composes from the requests of the HTTP load.
import * as Address from "@waybill/domain/values/Address"
import type { EmailId } from "@waybill/domain/values/Id"
import * as Compose from "@waybill/mail/compose/Compose"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result } from "effect"
import * as net from "node:net"
import { MESSAGE, NUMBER, numbered } from "../accept/request.ts"
import { expect } from "./smtpReplies.ts"

export interface Order {
  readonly port: number
  readonly connections: number
  readonly mails: number
}
export type Answer = { readonly done: number } | { readonly problem: string }

interface Client {
  readonly socket: net.Socket
  readonly nextEnvelope: () => Buffer
  readonly nextMessage: () => Buffer
}

const ENVELOPE = `MAIL FROM:<hi@acme.test> BODY=8BITMIME\r\nRCPT TO:<${MESSAGE.to[0]}>\r\nDATA\r\n`
const END = Buffer.from(".\r\n")
const message = (client: number): Buffer => {
  const mailbox = (text: string) => Result.getOrThrow(Address.parse(text))
  const { bytes } = Result.getOrThrow(
    Compose.compose({
      ...MESSAGE,
      id: `em_${NUMBER}x${client}` as EmailId,
      createdAt: Timestamp.fromMillis(Date.now()),
      from: mailbox(MESSAGE.from),
      to: MESSAGE.to.map(mailbox),
      replyTo: [mailbox(MESSAGE.reply_to)],
    }),
  )
  return Buffer.concat([bytes, END])
}

const clients = new Map<string, Promise<Client>>()

const open = async (port: number, client: number): Promise<Client> => {
  const socket = net.connect(port, "127.0.0.1")
  socket.setNoDelay(true)
  await expect(socket, "220")
  socket.write("EHLO load.acme.test\r\n")
  await expect(socket, "250")
  return {
    socket,
    nextEnvelope: numbered(Buffer.from(ENVELOPE), client),
    nextMessage: numbered(message(client), client),
  }
}

/** Returns the open client with this number. Connections and numbers of messages continue from one order to the next. */
const clientOf = (port: number, client: number): Promise<Client> => {
  const name = `${port} ${client}`
  const made = clients.get(name) ?? open(port, client)
  clients.set(name, made)
  return made
}

const run = async ({ connections, mails, port }: Order): Promise<number> => {
  const all = await Promise.all(Array.from({ length: connections }, (_, client) => clientOf(port, client)))
  let sent = 0
  await Promise.all(
    all.map(async ({ nextEnvelope, nextMessage, socket }) => {
      while (sent < mails) {
        sent++
        socket.write(nextEnvelope())
        await expect(socket, "354", 3)
        socket.write(nextMessage())
        await expect(socket, "250")
      }
    }),
  )
  return sent
}

process.on("message", (order: Order) => {
  run(order).then(
    (done) => process.send?.({ done } satisfies Answer),
    (error: unknown) => process.send?.({ problem: String(error) } satisfies Answer),
  )
})
process.on("disconnect", () => process.exit())
process.send?.({ ready: true })
