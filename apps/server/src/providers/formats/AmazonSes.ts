import * as Event from "./ProviderEvent.ts"

const KINDS: Readonly<Record<string, Event.Kind>> = {
  Delivery: "delivered",
  DeliveryDelay: "deferred",
  Bounce: "bounced",
  Complaint: "complained",
  Open: "opened",
  Click: "clicked",
}

/** Reads the message of a notification of Amazon SES, by a topic of feedback or of a configuration set. */
export const read: Event.Read = (value) => {
  const message = Event.fields(value)
  const type = Event.text(message["eventType"] ?? message["notificationType"])
  const mail = Event.fields(message["mail"])
  const ref = Event.refOf(mail["messageId"])
  if (type === undefined || ref === undefined) return undefined
  const kind = KINDS[type]
  if (kind === undefined) return "ignored"
  const detail = Event.fields(message[DETAILS[kind]])
  const at = Event.time(detail["timestamp"])
  const isHard = detail["bounceType"] === "Permanent"
  const common = {
    ...Event.EMPTY,
    kind,
    at,
    ref,
    isHard,
    messageId: Event.header(mail["headers"], "message-id"),
    mx: Event.text(detail["reportingMTA"])?.replace(/^dns;\s*/u, ""),
    feedback: kind === "complained" ? (Event.text(detail["complaintFeedbackType"]) ?? "abuse") : undefined,
    url: Event.text(detail["link"]),
    userAgent: Event.text(detail["userAgent"]),
    ip: Event.text(detail["ipAddress"]),
  }
  return recipientsOf(kind, detail, mail).map(({ diagnostic, email, status }) => ({
    ...common,
    id: `${ref} ${kind} ${email ?? ""} ${at ?? ""} ${common.url ?? ""}`,
    recipient: email,
    status: status ?? Event.status(diagnostic),
    code: Event.code(diagnostic?.replace(/^smtp;\s*/u, "")),
    text: diagnostic?.replace(/^smtp;\s*/u, ""),
  }))
}

const DETAILS: { readonly [K in Event.Kind]: string } = {
  delivered: "delivery",
  deferred: "deliveryDelay",
  bounced: "bounce",
  complained: "complaint",
  opened: "open",
  clicked: "click",
}

interface Recipient {
  readonly email: string | undefined
  readonly status: string | undefined
  readonly diagnostic: string | undefined
}

const recipientsOf = (kind: Event.Kind, detail: Event.Fields, mail: Event.Fields): ReadonlyArray<Recipient> => {
  if (kind === "delivered")
    return Event.list(detail["recipients"]).map((email) => ({
      email: Event.text(email),
      status: undefined,
      diagnostic: Event.text(detail["smtpResponse"]),
    }))
  if (kind === "opened" || kind === "clicked")
    return [{ email: Event.text(Event.list(mail["destination"])[0]), status: undefined, diagnostic: undefined }]
  return Event.list(detail["bouncedRecipients"] ?? detail["complainedRecipients"] ?? detail["delayedRecipients"])
    .map(Event.fields)
    .map((each) => ({
      email: Event.text(each["emailAddress"]),
      status: Event.text(each["status"]),
      diagnostic: Event.text(each["diagnosticCode"]),
    }))
}
