import * as Table from "@waybill/domain/values/Table"
import * as Event from "./ProviderEvent.ts"

const KINDS: Readonly<Record<string, Event.Kind>> = {
  delivered: "delivered",
  deferred: "deferred",
  bounce: "bounced",
  dropped: "bounced",
  spamreport: "complained",
  open: "opened",
  click: "clicked",
}

/** Reads one event of a call of SendGrid. */
export const read: Event.Read = (value) => {
  const event = Event.fields(value)
  const type = Event.text(event["event"])
  const id = Event.text(event["sg_event_id"])
  if (type === undefined || id === undefined) return undefined
  const kind = Table.at(KINDS, type)
  if (kind === undefined) return "ignored"
  const detail = Event.text(event["reason"]) ?? Event.text(event["response"])
  return [
    {
      kind,
      id,
      at: Event.seconds(event["timestamp"]),
      messageId: Event.text(event["smtp-id"]),
      ref: refOf(event["sg_message_id"]),
      recipient: Event.text(event["email"]),
      isHard: type === "bounce" && event["type"] !== "blocked",
      code: Event.code(detail),
      status: Event.status(event["status"]) ?? Event.status(detail),
      text: detail,
      feedback: kind === "complained" ? "abuse" : undefined,
      url: Event.text(event["url"]),
      userAgent: Event.text(event["useragent"]),
      ip: Event.text(event["ip"]),
    },
  ]
}

/**
 * The id that the hand-over was answered with, before the name of the server that worked on it. Ids of today have no dot;
 * older ones may have.
 */
const refOf = (value: unknown): string | undefined =>
  Event.refOf(value)
    ?.replace(/\.(?:filter|recvd).*$/u, "")
    .replace(/^([\w-]{22})\..*$/u, "$1")
