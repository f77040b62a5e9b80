import type { JsonValue, JsonObject } from "./JsonValue.ts"

/** Fields of the first event that the record of a receipt repeats. */
const REPEATED = ["message_id", "from", "to", "cc", "bcc", "reply_to", "subject"]

/** An event of a receipt, as far as its record follows from it. */
export interface ShownEvent {
  readonly entry: { readonly type: string; readonly at: string }
  readonly fields?: Readonly<Record<string, { readonly value: JsonValue }>>
}

/** Returns the record of a receipt: what its events say of the message, and nothing else. */
export const summaryOf = (events: ReadonlyArray<ShownEvent>): JsonObject => {
  const [first, last] = [events[0], events.at(-1)]
  const id = first?.fields?.["inbound_id"] ?? first?.fields?.["email_id"]
  const repeated = Object.entries(first?.fields ?? {}).filter(([name]) => REPEATED.includes(name))
  const recipients = new Map<string, JsonObject>()
  for (const { entry, fields } of events) {
    const address = fields?.["recipient"]?.value
    if (typeof address === "string") recipients.set(address, { address, last_event: entry.type, at: entry.at })
  }
  return {
    ...Object.fromEntries(repeated.map(([name, { value }]) => [name, value])),
    ...(id === undefined ? {} : { id: id.value }),
    created_at: first?.entry.at ?? null,
    updated_at: last?.entry.at ?? null,
    version: events.length,
    recipients: [...recipients.values()],
  }
}
