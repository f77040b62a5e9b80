import * as Table from "@waybill/domain/values/Table"
import * as Event from "./ProviderEvent.ts"

const KINDS: Readonly<Record<string, Event.Kind>> = {
  delivery: "delivered",
  delay: "deferred",
  bounce: "bounced",
  out_of_band: "bounced",
  policy_rejection: "bounced",
  generation_failure: "bounced",
  generation_rejection: "bounced",
  spam_complaint: "complained",
  open: "opened",
  click: "clicked",
  // Each `initial_open` has an `open` beside it and says nothing more.
  amp_open: "opened",
  amp_click: "clicked",
}

/** Classes of bounces at which the address does not work: invalid recipient, no such domain, unsubscribe. */
const HARD_CLASSES: ReadonlySet<string> = new Set(["10", "30", "90"])
/** Classes of bounces that are none: an automatic reply, a subscription by mail, a challenge. */
const OTHER_CLASSES: ReadonlySet<string> = new Set(["60", "80", "100"])

/** Reads one event of a call of SparkPost. A test call has an empty one. */
export const read: Event.Read = (value) => {
  const outer = Event.fields(value)["msys"]
  const groups = Object.values(Event.fields(outer)).map(Event.fields)
  if (typeof outer === "object" && outer !== null && groups.length === 0) return "ignored"
  const [event = {}] = groups
  const type = Event.text(event["type"])
  const id = Event.text(event["event_id"])
  if (type === undefined || id === undefined) return undefined
  const kind = Table.at(KINDS, type)
  const bounceClass = String(event["bounce_class"] ?? "")
  if (kind === undefined || (kind === "bounced" && OTHER_CLASSES.has(bounceClass))) return "ignored"
  const isVisit = kind === "opened" || kind === "clicked"
  const address = Event.text(event["ip_address"])
  const detail = Event.text(event["raw_reason"]) ?? Event.text(event["reason"])
  return [
    {
      kind,
      id,
      at: Event.seconds(event["timestamp"]) ?? Event.time(event["timestamp"]),
      ref: Event.refOf(event["transmission_id"] ?? event["message_id"]),
      returnPath: Event.text(event["msg_from"]),
      messageId: Event.text(Event.fields(event["rcpt_meta"])["message_id"]),
      recipient: Event.text(event["raw_rcpt_to"] ?? event["rcpt_to"]),
      isHard: kind === "bounced" && HARD_CLASSES.has(bounceClass),
      code: Event.code(Event.number(event["error_code"])) ?? Event.code(detail),
      status: Event.status(detail),
      text: detail,
      // The address of the recipient's server, or of whoever opened the mail.
      mx: isVisit ? undefined : address,
      feedback: kind === "complained" ? (Event.text(event["fbtype"]) ?? "abuse") : undefined,
      url: Event.text(event["target_link_url"]),
      userAgent: Event.text(event["user_agent"]),
      ip: isVisit ? address : undefined,
    },
  ]
}
