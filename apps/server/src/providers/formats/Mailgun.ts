import * as Table from "@waybill/domain/values/Table"
import * as Event from "./ProviderEvent.ts"

const KINDS: Readonly<Record<string, Event.Kind>> = {
  delivered: "delivered",
  failed: "bounced",
  complained: "complained",
  opened: "opened",
  clicked: "clicked",
}

/** Reads the `event-data` of a call of Mailgun. */
export const read: Event.Read = (value) => {
  const data = Event.fields(Event.fields(value)["event-data"])
  const type = Event.text(data["event"])
  const id = Event.text(data["id"])
  if (type === undefined || id === undefined) return undefined
  const kind = type === "failed" && data["severity"] === "temporary" ? "deferred" : Table.at(KINDS, type)
  if (kind === undefined) return "ignored"
  const delivery = Event.fields(data["delivery-status"])
  const messageId = Event.text(Event.fields(Event.fields(data["message"])["headers"])["message-id"])
  const code = Event.number(delivery["code"])
  const detail = Event.text(delivery["message"]) ?? Event.text(delivery["description"])
  return [
    {
      kind,
      // An id is of one event within a day only.
      id: `${id} ${String(Event.number(data["timestamp"]) ?? "")}`,
      at: Event.seconds(data["timestamp"]),
      messageId,
      returnPath: Event.text(Event.fields(data["envelope"])["sender"]),
      ref: Event.refOf(messageId),
      recipient: Event.text(data["recipient"]),
      // "suppress-bounce" is Mailgun's own list; the address was not tried.
      isHard: kind === "bounced" && data["reason"] === "bounce" && delivery["bounce-type"] !== "soft",
      code: Event.code(code),
      status: Event.status(delivery["enhanced-code"]) ?? Event.status(detail),
      text: detail,
      mx: Event.text(delivery["mx-host"]),
      feedback: kind === "complained" ? "abuse" : undefined,
      url: Event.text(data["url"]),
      userAgent: Event.text(Event.fields(data["client-info"])["user-agent"]),
      ip: Event.text(data["ip"]),
    },
  ]
}
