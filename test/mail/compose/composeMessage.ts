import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import type * as Message from "@waybill/mail/compose/Message"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Result } from "effect"

export const AT = "2026-11-21T10:15:20.123Z" as Timestamp
export const ID = Id.make("EmailId", Date.parse(AT), Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))

export const address = (text: string): Address.Address => Result.getOrThrow(Address.parseAddress(text))

export const message = (fields: Partial<Message.Message> = {}): Message.Message => ({
  id: ID,
  createdAt: AT,
  from: { address: address("hi@acme.test"), name: "Acme" },
  to: [{ address: address("ana@example.org"), name: "Ana" }],
  subject: "Your receipt",
  text: "Thank you.",
  ...fields,
})

/** Messages of each MIME structure; their composed bytes are in test/fixtures/compose. */
export const golden: Readonly<Record<string, Message.Message>> = {
  text: message(),
  alternative: message({
    html: "<h1>Děkujeme</h1>\n<p>Your receipt is attached, Ana. A line of this length has to be broken softly.</p>\n",
    unsubscribeUrl: "https://acme.test/u/1",
    headers: { "X-Order": "42", "Auto-Submitted": "auto-generated" },
  }),
  everything: message({
    from: { address: address("hi@acme.test"), name: 'Ærø "Søn"' },
    to: [
      { address: address("ana@example.org"), name: "Novák, Ana" },
      { address: address("žofie@bücher.example"), name: "Žofie" },
    ],
    cc: [{ address: address("ben@example.org") }],
    bcc: [{ address: address("secret@example.org") }],
    replyTo: [{ address: address("help@acme.test"), name: "Help" }],
    subject: "Příliš žluťoučký kůň úpěl ďábelské ódy, a to je dlouhý předmět 🐎",
    text: "日本語\n.\nFrom the team \n",
    html: '<p>日本語 <img src="cid:logo"></p>',
    attachments: [
      { filename: "logo.png", contentId: "<logo>", content: Uint8Array.from({ length: 100 }, (_, i) => i) },
      { filename: "Účtenka č. 1.pdf", content: Buffer.from("%PDF-") },
      { filename: "note.eml", content: Buffer.from("Subject: x\n\ny\n") },
    ],
  }),
}
