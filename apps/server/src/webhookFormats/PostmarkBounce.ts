import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import * as Id from "@waybill/domain/values/Id"
import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Words from "./PostmarkWords.ts"

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

/** Postmark's types of bounces, of which Waybill's outcomes are the first five. */
export const TYPES: ReadonlyArray<string> = [
  ...[HARD, SOFT, DNS, BLOCKED, COMPLAINT].map(({ Type }) => Type),
  "Transient",
  "Unsubscribe",
  "Subscribe",
  "AutoResponder",
  "AddressChange",
  "SpamNotification",
  "OpenRelayTest",
  "Unknown",
  "VirusNotification",
  "ChallengeVerification",
  "BadEmailAddress",
  "ManuallyDeactivated",
  "Unconfirmed",
  "SMTPApiError",
  "InboundError",
  "DMARCPolicy",
  "TemplateRenderingFailed",
]

/** The states of a recipient that Postmark calls a bounce. */
export const STATUSES = ["bounced", "complained", "failed"] as const
type Status = (typeof STATUSES)[number]

const isBounce = (status: string): status is Status => (STATUSES as ReadonlyArray<string>).includes(status)

/** The fate of one recipient, by an event or by the log record. */
export interface Outcome {
  readonly status: Status
  readonly category: string | null
  readonly code: number | null
  readonly response: string | null
  readonly at: string
}

const typeOf = ({ category, status }: Outcome): BounceType => {
  if (status === "complained") return COMPLAINT
  if (category === "bad_domain") return DNS
  if (category === "blocked" || category === "policy") return BLOCKED
  return status === "bounced" && DeliveryOutcome.bounceType(category) === "hard" ? HARD : SOFT
}

/** Postmark's ids are numbers, which programs read without loss up to 53 bits: 30 of seconds, 16 of chance, 7 of the recipient. */
const EPOCH_S = Date.UTC(2020, 0, 1) / 1_000
const CHANCE = 2 ** 16
const RECIPIENTS = 2 ** 7

/** Returns the number of a recipient's bounce: the second of its message, the end of the message's id, and its place. */
export const idOf = (email_id: string, recipient: number): number => {
  const seconds = Math.floor(Id.timeOf(email_id) / 1_000) - EPOCH_S
  return (seconds * CHANCE + chanceOf(email_id)) * RECIPIENTS + (recipient % RECIPIENTS)
}

const chanceOf = (email_id: string): number => {
  const bytes = Id.fromBase32(email_id.slice(-Id.ENCODED_LENGTH))
  return bytes === undefined ? 0 : ((bytes.at(-2) ?? 0) << 8) | (bytes.at(-1) ?? 0)
}

/** Returns the second in which the message of a bounce was accepted; `undefined` for what is no such number. */
export const secondOf = (id: string): number | undefined =>
  /^\d{1,16}$/u.test(id) && Number.isSafeInteger(Number(id))
    ? (Math.floor(Number(id) / RECIPIENTS / CHANCE) + EPOCH_S) * 1_000
    : undefined

/** The message of a bounce, as its log record has it. */
export type Message = Pick<EmailRecord, "id" | "from" | "subject" | "tags" | "metadata">

/** Returns the bounce of one recipient of a message. */
export const of = (message: Message, nth: number, Email: string, outcome: Outcome) => {
  const type = typeOf(outcome)
  // These are the outcomes that suppress an address. Whether it still is suppressed is in the suppressions.
  const suppresses = type === COMPLAINT || (outcome.status === "bounced" && (type === HARD || type === DNS))
  return {
    RecordType: "Bounce" as const,
    ID: idOf(message.id, nth),
    ...type,
    Tag: Words.labelsOf(message).Tag,
    MessageID: message.id,
    ServerID: Words.SERVER_ID,
    Description: DESCRIPTIONS[outcome.status],
    Details: Words.detailsOf(outcome),
    Email,
    From: message.from,
    BouncedAt: outcome.at,
    DumpAvailable: false,
    Inactive: suppresses,
    CanActivate: suppresses,
    Subject: message.subject,
    MessageStream: Words.STREAM,
  }
}

/** Returns the bounces of a message, one for each recipient that has one. */
export const all = (record: EmailRecord) =>
  record.recipients.flatMap(({ address, last_event_at: at, smtp, status }, nth) => {
    const { category = null, code = null, response = null } = smtp ?? {}
    return isBounce(status) ? [of(record, nth, address, { status, category, code, response, at })] : []
  })

const DESCRIPTIONS: { readonly [S in Status]: string } = {
  bounced: "The receiving server refused the message.",
  complained: "The recipient reported the message as spam.",
  failed: "The message could not be delivered, and is not tried again.",
}
