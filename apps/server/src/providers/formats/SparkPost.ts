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
}

/** Classes of bounces at which the address does not work: invalid recipient, no such domain, unsubscribe. */
const HARD_CLASSES: ReadonlySet<string> = new Set(["10", "30", "90"])

/** Reads one event of a call of SparkPost. A test call has an empty one. */
export const read: Event.Read = (value) => {
  const outer = Event.fields(value)["msys"]
  const groups = Object.values(Event.fields(outer)).map(Event.fields)
  if (typeof outer === "object" && outer !== null && groups.length === 0) return "ignored"
  const [event = {}] = groups
  const type = Event.text(event["type"])
  const id = Event.text(event["event_id"])
  if (type === undefined || id === undefined) return undefined
  const kind = KINDS[type]
  if (kind === undefined) return "ignored"
  const detail = Event.text(event["raw_reason"]) ?? Event.text(event["reason"])
  return [
    {
      ...Event.EMPTY,
      kind,
      id,
      at: Event.seconds(event["timestamp"]) ?? Event.time(event["timestamp"]),
      ref: Event.refOf(event["transmission_id"] ?? event["message_id"]),
      messageId: Event.text(Event.fields(event["rcpt_meta"])["message_id"]),
      recipient: Event.text(event["raw_rcpt_to"] ?? event["rcpt_to"]),
      isHard: HARD_CLASSES.has(String(event["bounce_class"] ?? "")),
      code: Event.code(Event.number(event["error_code"])) ?? Event.code(detail),
      status: Event.status(detail),
      text: detail,
      mx: Event.text(event["ip_address"]) === undefined ? undefined : Event.text(event["routing_domain"]),
      feedback: kind === "complained" ? (Event.text(event["fbtype"]) ?? "abuse") : undefined,
      url: Event.text(event["target_link_url"]),
      userAgent: Event.text(event["user_agent"]),
      ip: kind === "opened" || kind === "clicked" ? Event.text(event["ip_address"]) : undefined,
    },
  ]
}
