import * as Table from "@waybill/domain/values/Table"
import * as Event from "./ProviderEvent.ts"

const KINDS: Readonly<Record<string, Event.Kind>> = {
  "email.delivered": "delivered",
  "email.delivery_delayed": "deferred",
  "email.bounced": "bounced",
  // Resend took the mail and does not send it.
  "email.failed": "bounced",
  "email.suppressed": "bounced",
  "email.complained": "complained",
  "email.opened": "opened",
  "email.clicked": "clicked",
}

/** Reads a call of Resend. */
export const read: Event.Read = (value) => {
  const call = Event.fields(value)
  const type = Event.text(call["type"])
  const data = Event.fields(call["data"])
  const ref = Event.refOf(data["email_id"])
  if (type === undefined || (ref === undefined && type.startsWith("email."))) return undefined
  const kind = Table.at(KINDS, type)
  if (kind === undefined || ref === undefined) return "ignored"
  const at = Event.time(call["created_at"])
  const bounce = Event.fields(data["bounce"])
  const click = Event.fields(data["click"])
  const detail =
    Event.answer(Event.list(bounce["diagnosticCode"])[0]) ??
    Event.text(bounce["message"]) ??
    Event.text(Event.fields(data["suppressed"])["message"]) ??
    Event.text(Event.fields(data["failed"])["reason"])
  const recipient = recipientOf(data["to"])
  return [
    {
      kind,
      id: `${ref} ${kind} ${recipient ?? ""} ${at ?? ""} ${Event.text(click["link"]) ?? ""}`,
      at,
      ref,
      // Resend gives a mail a Message-ID of its own.
      messageId: Event.header(data["headers"], "message-id") ?? Event.text(data["message_id"]),
      recipient,
      isHard: bounce["type"] === "Permanent" && !Event.isSuppressed(bounce["subType"]),
      code: Event.code(detail),
      status: Event.status(detail),
      text: detail,
      feedback: kind === "complained" ? "abuse" : undefined,
      url: Event.text(click["link"]),
      userAgent: Event.text(click["userAgent"]),
      ip: Event.text(click["ipAddress"]),
    },
  ]
}

/** The recipient. An event is about one of those that the mail names, and does not say which if there are several. */
const recipientOf = (to: unknown): string | undefined => {
  const [first, ...others] = Array.isArray(to) ? to : [to]
  return others.length === 0 ? Event.addressOf(first) : undefined
}
