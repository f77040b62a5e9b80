import * as Table from "@waybill/domain/values/Table"
import * as Event from "./ProviderEvent.ts"

interface Type {
  readonly kind: Event.Kind
  /** The field that the details are in. */
  readonly detail: string
}

const TYPES: Readonly<Record<string, Type>> = {
  Delivery: { kind: "delivered", detail: "delivery" },
  DeliveryDelay: { kind: "deferred", detail: "deliveryDelay" },
  Bounce: { kind: "bounced", detail: "bounce" },
  // Amazon took the mail and does not send it: it has a virus, or its template lacks data.
  Reject: { kind: "bounced", detail: "reject" },
  "Rendering Failure": { kind: "bounced", detail: "failure" },
  Complaint: { kind: "complained", detail: "complaint" },
  Open: { kind: "opened", detail: "open" },
  Click: { kind: "clicked", detail: "click" },
}

/** Reads the message of a notification of Amazon SES, by a topic of feedback or of a configuration set. */
export const read: Event.Read = (value) => {
  const message = Event.fields(value)
  const named = Event.text(message["eventType"] ?? message["notificationType"])
  if (named === undefined) return undefined
  const type = Table.at(TYPES, named)
  if (type === undefined) return "ignored"
  const mail = Event.fields(message["mail"])
  const ref = Event.refOf(mail["messageId"])
  if (ref === undefined) return undefined
  const detail = Event.fields(message[type.detail])
  const isSuppressed = Event.isSuppressed(detail["bounceSubType"] ?? detail["complaintSubType"])
  // A complaint of this subtype is an earlier one, for which this mail was not sent.
  const kind = isSuppressed && type.kind === "complained" ? "bounced" : type.kind
  const at = Event.time(detail["timestamp"]) ?? Event.time(mail["timestamp"])
  const common = {
    at,
    ref,
    messageId: Event.header(mail["headers"], "message-id"),
    returnPath: Event.text(mail["source"]),
    mx: serverOf(type.kind, detail),
    feedback: kind === "complained" ? (Event.text(detail["complaintFeedbackType"]) ?? "abuse") : undefined,
    url: Event.text(detail["link"]),
    userAgent: Event.text(detail["userAgent"]),
    ip: Event.text(detail["ipAddress"]),
  }
  return recipientsOf(type.kind, detail, mail).map(({ diagnostic, email, isDelayed, status }) => ({
    ...common,
    kind: isDelayed ? "deferred" : kind,
    id: `${ref} ${kind} ${email ?? ""} ${at ?? ""} ${common.url ?? ""}`,
    recipient: email,
    isHard: detail["bounceType"] === "Permanent" && !isSuppressed && !isDelayed,
    status: status ?? Event.status(diagnostic),
    code: Event.code(diagnostic),
    text: diagnostic,
  }))
}

/** The server of the recipient. The reporting one of a delivery is Amazon's own; that of a bounce is as the report has it. */
const serverOf = (kind: Event.Kind, detail: Event.Fields): string | undefined =>
  Event.text(detail["remoteMtaIp"]) ??
  (kind === "delivered" ? undefined : Event.text(detail["reportingMTA"])?.replace(/^d(?:ns|sn);\s*/u, ""))

interface Recipient {
  readonly email: string | undefined
  readonly status: string | undefined
  readonly diagnostic: string | undefined
  /** A bounce may also name recipients that the server still tries. */
  readonly isDelayed: boolean
}

/** Recipients of one mail that are read; Amazon takes 50. */
const MAX_RECIPIENTS = 1_000

const recipientsOf = (kind: Event.Kind, detail: Event.Fields, mail: Event.Fields): ReadonlyArray<Recipient> => {
  const named = (email: unknown, diagnostic?: unknown) => ({
    email: Event.addressOf(email),
    status: undefined,
    diagnostic: Event.answer(diagnostic),
    isDelayed: false,
  })
  const destination = Event.list(mail["destination"]).slice(0, MAX_RECIPIENTS)
  if (kind === "opened" || kind === "clicked") return [named(destination[0])]
  if (kind === "delivered")
    return Event.list(detail["recipients"])
      .slice(0, MAX_RECIPIENTS)
      .map((email) => named(email, detail["smtpResponse"]))
  const listed = detail["bouncedRecipients"] ?? detail["complainedRecipients"] ?? detail["delayedRecipients"]
  if (listed === undefined) return destination.map((email) => named(email, detail["reason"] ?? detail["errorMessage"]))
  return Event.list(listed)
    .slice(0, MAX_RECIPIENTS)
    .map(Event.fields)
    .map((each) => ({
      email: Event.text(each["emailAddress"]),
      status: Event.text(each["status"]),
      diagnostic: Event.answer(each["diagnosticCode"]),
      isDelayed: each["action"] === "delayed",
    }))
}
