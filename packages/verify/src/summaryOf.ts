import type { Json, JsonObject } from "./Json.ts"

/** Fields of the first event that the record of a receipt repeats. */
const REPEATED = ["message_id", "from", "to", "cc", "bcc", "reply_to", "subject"]

/** An event, with the values of the fields that are shown. */
export interface ShownEvent {
  readonly type: string
  readonly at: string
  readonly fields: Readonly<Record<string, Json>>
}

/** Returns the record of a receipt: what its events say of the message, and nothing else. */
export const summaryOf = (events: ReadonlyArray<ShownEvent>): JsonObject => {
  const [first, last] = [events[0], events.at(-1)]
  const shown = first?.fields ?? {}
  const repeated = ["id", ...REPEATED].flatMap((name): Array<[string, Json]> => {
    const value = name === "id" ? (shown["email_id"] ?? shown["inbound_id"]) : shown[name]
    return value === undefined ? [] : [[name, value]]
  })
  const latest = new Map<string, JsonObject>()
  for (const { at, fields, type } of events) {
    const { recipient } = fields
    if (typeof recipient === "string") latest.set(recipient, { address: recipient, last_event: type, at })
  }
  return {
    ...Object.fromEntries(repeated),
    created_at: first?.at ?? null,
    updated_at: last?.at ?? null,
    version: events.length,
    recipients: [...latest.values()],
  }
}
