import * as Event from "./ProviderEvent.ts"

const KINDS: Readonly<Record<string, Event.Kind>> = {
  "email.delivered": "delivered",
  "email.delivery_delayed": "deferred",
  "email.bounced": "bounced",
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
  const kind = KINDS[type]
  if (kind === undefined || ref === undefined) return "ignored"
  const at = Event.time(call["created_at"])
  const bounce = Event.fields(data["bounce"])
  const click = Event.fields(data["click"] ?? data["open"])
  const detail = Event.text(bounce["message"])
  return recipientsOf(data["to"]).map((recipient) => ({
    ...Event.EMPTY,
    kind,
    id: `${ref} ${kind} ${recipient ?? ""} ${at ?? ""} ${Event.text(click["link"]) ?? ""}`,
    at,
    ref,
    messageId: Event.text(data["message_id"]) ?? Event.header(data["headers"], "message-id"),
    recipient,
    isHard: bounce["type"] === "Permanent",
    code: Event.code(detail),
    status: Event.status(detail),
    text: detail,
    feedback: kind === "complained" ? "abuse" : undefined,
    url: Event.text(click["link"]),
    userAgent: Event.text(click["userAgent"]),
    ip: Event.text(click["ipAddress"]),
  }))
}

const recipientsOf = (to: unknown): ReadonlyArray<string | undefined> =>
  (Array.isArray(to) ? to : [to]).map((each) => Event.text(each))
