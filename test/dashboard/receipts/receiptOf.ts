import type { ShownReceipt } from "../../../apps/dashboard/src/receipts/ReceiptFacts.ts"

const NOTE = `mail.example.com/log
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— mail.example.com/log Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`
/** The example of c2sp.org/tlog-cosignature, of 2023-03-20. */
const COSIGNATURE =
  "— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA=="

type Values = Readonly<Record<string, unknown>>

const eventOf = (type: string, index: number, values: Values, hidden: Readonly<Record<string, string>> = {}) => ({
  entry: { type, at: `2026-11-29T18:10:0${index % 10}.250Z` },
  fields: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { salt: "c2FsdA", value }])),
  hidden,
  index,
})

export const named = (address: string, name: string | null = null) => ({ address, name })

export const delivered = (recipient: string, index: number, fields: Values = {}) =>
  eventOf("email.delivered", index, {
    recipient,
    code: 250,
    enhanced_code: "2.0.0",
    response: `OK: queued as 9F${index}`,
    mx: "mx1.example.org",
    address: "192.0.2.7",
    tls: "TLSv1.3",
    ...fields,
  })

interface Message {
  readonly subject?: string
  readonly from?: ReturnType<typeof named>
  readonly to?: ReadonlyArray<string>
  readonly events?: ReadonlyArray<ShownReceipt["events"][number]>
}

/** A receipt of a sent message that was delivered to all of its recipients. */
export const receiptOf = ({ events, from, subject, to = ["ana@example.org"] }: Message = {}): ShownReceipt => ({
  origin: "mail.example.com/log",
  events: [
    eventOf("email.queued", 11, {
      from: from ?? named("billing@acme.test", "Acme Billing"),
      to: to.map((address) => named(address)),
      cc: [],
      bcc: [],
      subject: subject ?? "Your invoice 2026-1129",
      message_id: "<msg_01kakz5xq8e4vb2m0r7c3d9h1t@acme.test>",
    }),
    ...(events ?? to.map((address, nth) => delivered(address, 12 + nth))),
  ],
  checkpoint: NOTE,
  cosignatures: [COSIGNATURE],
})

/** A receipt of a mail that came in. */
export const received = (): ShownReceipt => ({
  ...receiptOf(),
  events: [
    eventOf("email.received", 4, {
      envelope: {
        from: "ana@example.org",
        to: ["support@acme.test"],
        remote_ip: "192.0.2.1",
        helo: "mx.example.org",
        tls: "TLSv1.3",
      },
      from: named("ana@example.org", "Ana"),
      to: [named("support@acme.test")],
      subject: "Where is it?",
      message_id: "<1@example.org>",
    }),
    eventOf("inbound.replied", 9, { email_id: "msg_x" }),
  ],
})

/** A receipt that shows no recipient. */
export const redacted = (): ShownReceipt => {
  const receipt = receiptOf({ to: ["ana@example.org", "bo@example.org"] })
  const hide = (event: ShownReceipt["events"][number], name: string) => {
    const { [name]: _, ...fields } = event.fields ?? {}
    return { ...event, fields, hidden: { ...event.hidden, [name]: "Y29tbWl0bWVudA" } }
  }
  return {
    ...receipt,
    events: receipt.events.map((event, nth) => hide(event, nth === 0 ? "to" : "recipient")),
  }
}
