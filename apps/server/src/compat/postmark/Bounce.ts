import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Message from "./Message.ts"
import * as Refusals from "./Refusals.ts"

type Recipient = EmailRecord["recipients"][number]

interface BounceType {
  readonly Type: string
  readonly TypeCode: number
  readonly Name: string
}

const HARD: BounceType = { Type: "HardBounce", TypeCode: 1, Name: "Hard bounce" }
const SOFT: BounceType = { Type: "SoftBounce", TypeCode: 4096, Name: "Soft bounce" }
const DNS: BounceType = { Type: "DnsError", TypeCode: 256, Name: "DNS error" }
const BLOCKED: BounceType = { Type: "Blocked", TypeCode: 100_006, Name: "ISP block" }
const COMPLAINT: BounceType = { Type: "SpamComplaint", TypeCode: 100_001, Name: "Spam complaint" }

export const TYPES: ReadonlyArray<string> = [HARD, SOFT, DNS, BLOCKED, COMPLAINT].map(({ Type }) => Type)

/** The states of a recipient that Postmark calls a bounce. */
export const STATUSES = ["bounced", "complained", "failed"] as const

const isBounce = ({ status }: Recipient): boolean => (STATUSES as ReadonlyArray<string>).includes(status)

const typeOf = ({ smtp, status }: Recipient): BounceType => {
  const category = smtp?.category ?? null
  if (status === "complained") return COMPLAINT
  if (category === "bad_domain") return DNS
  if (category === "blocked" || category === "policy") return BLOCKED
  return status === "bounced" && DeliveryOutcome.bounceType(category) === "hard" ? HARD : SOFT
}

/** Names the recipient by its place in the message. Postmark's ids are numbers, which cannot hold an id of ours. */
export const idOf = (email_id: string, recipient: number): string => `${email_id}.${recipient}`

export const partsOf = (id: string): { readonly email_id: string; readonly recipient: number } | undefined => {
  const [, email_id, recipient] = /^(msg_\w+)\.(\d{1,4})$/u.exec(id) ?? []
  return email_id === undefined ? undefined : { email_id, recipient: Number(recipient) }
}

/** Returns the bounces of a message, one for each recipient that has one. */
export const all = (record: EmailRecord) =>
  record.recipients.flatMap((recipient, nth) => {
    if (!isBounce(recipient)) return []
    const type = typeOf(recipient)
    const { code = null, response = null } = recipient.smtp ?? {}
    // These are the outcomes that suppress an address. Whether it still is suppressed is in the suppressions.
    const suppresses = type === COMPLAINT || (recipient.status === "bounced" && (type === HARD || type === DNS))
    return [
      {
        RecordType: "Bounce" as const,
        ID: idOf(record.id, nth),
        ...type,
        Tag: Message.labelsOf(record.tags).Tag,
        MessageID: record.id,
        ServerID: 0,
        Description: DESCRIPTIONS[recipient.status] ?? "",
        Details: [code, response].filter((part) => part !== null).join(" "),
        Email: recipient.address,
        From: record.from,
        BouncedAt: recipient.last_event_at,
        DumpAvailable: false,
        Inactive: suppresses,
        CanActivate: suppresses,
        Subject: record.subject,
        MessageStream: Refusals.STREAM,
      },
    ]
  })

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  bounced: "The receiving server refused the message.",
  complained: "The recipient reported the message as spam.",
  failed: "The message could not be delivered, and is not tried again.",
}
