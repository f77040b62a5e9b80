import * as Table from "@waybill/domain/values/Table"
import * as ProviderMetadata from "@waybill/mail/provider/ProviderMetadata"
import * as Event from "./ProviderEvent.ts"

const KINDS: Readonly<Record<string, Event.Kind>> = {
  Delivery: "delivered",
  Bounce: "bounced",
  SpamComplaint: "complained",
  Open: "opened",
  Click: "clicked",
}

/** Types of bounces that say nothing about the delivery. */
const OTHER_TYPES: ReadonlySet<string> = new Set([
  "AutoResponder",
  "Subscribe",
  "Unsubscribe",
  "AddressChange",
  "ChallengeVerification",
  "OpenRelayTest",
  // About a mail that Postmark received.
  "InboundError",
])
/** Types of bounces of which Postmark says that they pass. */
const PASSING_TYPES: ReadonlySet<string> = new Set(["Transient", "DnsError"])
const HARD_TYPES: ReadonlySet<string> = new Set(["HardBounce", "BadEmailAddress"])

/** Reads a call of Postmark. */
export const read: Event.Read = (value) => {
  const call = Event.fields(value)
  const record = Event.text(call["RecordType"])
  const ref = Event.refOf(call["MessageID"])
  if (record === undefined || ref === undefined) return undefined
  const type = Event.text(call["Type"]) ?? ""
  const isComplaint = record === "Bounce" && type === "SpamComplaint"
  const kind = PASSING_TYPES.has(type) ? "deferred" : isComplaint ? "complained" : Table.at(KINDS, record)
  if (kind === undefined || OTHER_TYPES.has(type)) return "ignored"
  const at = Event.time(call["DeliveredAt"] ?? call["BouncedAt"] ?? call["ReceivedAt"])
  const recipient = Event.text(call["Recipient"] ?? call["Email"])
  const detail = Event.answer(call["Details"]) ?? Event.text(call["Description"])
  const url = Event.text(call["OriginalLink"])
  return [
    {
      kind,
      id: `${ref} ${kind} ${recipient ?? ""} ${String(call["ID"] ?? "")} ${at ?? ""} ${url ?? ""}`,
      at,
      ref,
      returnPath: Event.text(Event.fields(call["Metadata"])[ProviderMetadata.NAME]),
      recipient,
      isHard: HARD_TYPES.has(type),
      status: Event.status(detail),
      code: Event.code(detail),
      text: detail,
      feedback: kind === "complained" ? "abuse" : undefined,
      url,
      userAgent: Event.text(call["UserAgent"]),
      ip: Event.text(Event.fields(call["Geo"])["IP"]),
    },
  ]
}
