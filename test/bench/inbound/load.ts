// Load generator of received mail in a process of its own: one connection per client, each from an address of its own as mail
// servers have, which sends the next message as soon as the last one is accepted. Each message is signed before the turn.
import { dkimSign } from "mailauth/lib/dkim/sign.js"
import * as net from "node:net"
import { expect } from "../postfix/smtpReplies.ts"

export interface Order {
  readonly port: number
  readonly connections: number
  readonly mails: number
  /** PEM of the key of the sender. */
  readonly key: string
}
/** Times in milliseconds since the epoch. */
export type Answer = { readonly began: number; readonly ended: number } | { readonly problem: string }

export const SENDER = "example.org"
export const SELECTOR = "s1"
const NETWORK = "127.9.0."
const ENVELOPE = `MAIL FROM:<ana@${SENDER}> BODY=8BITMIME\r\nRCPT TO:<hi@acme.test>\r\nDATA\r\n`
const TEXT = "Thank you for your order. It has left our house today, and will be with you on Thursday.\r\n".repeat(20)
const HTML =
  `<p>Thank you for your order. It has left <a href="https://acme.test/x">our house</a> today.</p>\r\n`.repeat(30)

const now = () => performance.timeOrigin + performance.now()
const sockets = new Map<string, Promise<net.Socket>>()
let made = 0

const compose = (): string =>
  [
    `From: Ana <ana@${SENDER}>`,
    "To: Support <hi@acme.test>",
    `Subject: Re: Your order ${made}`,
    `Message-ID: <${process.pid}.${made++}@${SENDER}>`,
    "Date: Sun, 29 Nov 2026 10:00:00 +0100",
    "MIME-Version: 1.0",
    'Content-Type: multipart/alternative; boundary="b"',
    "",
    "--b",
    'Content-Type: text/plain; charset="utf-8"',
    "",
    TEXT,
    "--b",
    'Content-Type: text/html; charset="utf-8"',
    "",
    HTML,
    "--b--",
    "",
  ].join("\r\n")

const signed = async (privateKey: string): Promise<Buffer> => {
  const bytes = Buffer.from(compose())
  const { signatures } = await dkimSign(bytes, {
    canonicalization: "relaxed/relaxed",
    algorithm: "rsa-sha256",
    signatureData: [{ signingDomain: SENDER, selector: SELECTOR, privateKey }],
  } as never)
  return Buffer.concat([Buffer.from(signatures), bytes, Buffer.from(".\r\n")])
}

const open = async (port: number, client: number): Promise<net.Socket> => {
  const socket = net.connect({ port, host: "127.0.0.1", localAddress: `${NETWORK}${1 + client}` })
  socket.setNoDelay(true)
  await expect(socket, "220")
  socket.write(`EHLO mx.${SENDER}\r\n`)
  await expect(socket, "250")
  return socket
}

/** Returns the connection of a client, which stays open from one turn to the next. */
const socketOf = (port: number, client: number): Promise<net.Socket> => {
  const name = `${port} ${client}`
  const socket = sockets.get(name) ?? open(port, client)
  sockets.set(name, socket)
  return socket
}

const run = async ({ connections, key, mails, port }: Order): Promise<Answer> => {
  const messages: Array<Buffer> = []
  while (messages.length < mails) messages.push(await signed(key))
  const all = await Promise.all(Array.from({ length: connections }, (_, client) => socketOf(port, client)))
  const began = now()
  await Promise.all(
    all.map(async (socket) => {
      for (let message = messages.pop(); message !== undefined; message = messages.pop()) {
        socket.write(ENVELOPE)
        await expect(socket, "354", 3)
        socket.write(message)
        await expect(socket, "250")
      }
    }),
  )
  return { began, ended: now() }
}

process.on("message", (order: Order) => {
  run(order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.({ problem: String(error) } satisfies Answer),
  )
})
process.on("disconnect", () => process.exit())
process.send?.({ ready: true })
