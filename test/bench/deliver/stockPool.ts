// nodemailer as its documentation recommends it for bulk mail: a connection pool, and DKIM with a PEM key.
import nodemailer from "nodemailer"
import { FROM, HTML, recipient, SUBJECT, TEXT } from "./mail.ts"

export interface Order {
  readonly port: number
  readonly connections: number
  readonly privateKey: string
  readonly mails: number
}

process.on("message", async ({ connections, mails, port, privateKey }: Order) => {
  const transport = nodemailer.createTransport({
    host: "127.0.0.1",
    port,
    ignoreTLS: true,
    pool: true,
    maxConnections: connections,
    maxMessages: Infinity,
    dkim: { domainName: "acme.test", keySelector: "wb1", privateKey },
  })
  const began = performance.now()
  await Promise.all(
    Array.from({ length: mails }, (_, n) =>
      transport.sendMail({ from: FROM, to: recipient(n), subject: SUBJECT, text: TEXT, html: HTML }),
    ),
  )
  const millis = performance.now() - began
  transport.close()
  process.send?.({ millis })
})
process.on("disconnect", () => process.exit(0))
process.send?.({ ready: true })
