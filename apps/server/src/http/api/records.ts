import type { EventRecord } from "@waybill/api/schemas/EventRecord"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Stored } from "@waybill/store/commit/RecordedEvents"

/**
 * A row as this build's own fold wrote it. That it is what the contract says is checked where it leaves: an answer that
 * does not fit its schema is a 500, never a lie.
 */
export const asWritten = <A>(row: unknown): A => row as A

/** What the log keeps for itself: it would help nobody but a thief. */
const PRIVATE: ReadonlySet<string> = new Set(["hash", "secret_ref", "previous_ref", "key_ref"])

const shown = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, each]) => (PRIVATE.has(name) ? [] : [[name, shown(each)]])),
      )
    : value

/** The log leaves out the name of a mailbox that has none; in an answer what is absent is null (contract §1). */
const withNames = (data: Stored["data"]): Stored["data"] =>
  Object.fromEntries(
    Object.entries(data).map(([field, value]) => {
      if (field === "from") return [field, named(value as object)]
      return MAILBOXES.has(field) && Array.isArray(value) ? [field, value.map(named)] : [field, value]
    }),
  )

const MAILBOXES: ReadonlySet<string> = new Set(["to", "cc", "bcc", "reply_to"])
const named = (mailbox: { readonly name?: string }): object => ({ ...mailbox, name: mailbox.name ?? null })

type Fact = Pick<Stored, "event_id" | "version" | "type" | "data" | "meta" | "recorded_at">

/** An event of the log as clients read it: today's shape and names, its cursor, the moment it happened, who did it. */
export const eventRecord = (
  fact: Fact,
  position: EventRecord["position"],
  stream: string,
  stream_id: string,
): EventRecord => {
  const { at, ...data } = fact.data
  return {
    object: "event",
    id: fact.event_id,
    type: DomainEvent.publicType(fact.type as DomainEvent.Tag),
    stream,
    stream_id,
    version: fact.version,
    position,
    occurred_at: (at ?? data["created_at"] ?? fact.recorded_at) as Timestamp.Timestamp,
    actor: { type: fact.meta.actor.type, id: fact.meta.actor.id },
    request_id: fact.meta.request_id,
    data: shown(fact.type === "EmailQueued" ? withNames(data) : data) as EventRecord["data"],
  }
}

/** A list that is given whole: an account has few enough of these. */
export const whole = <A>(data: ReadonlyArray<A>) => ({
  object: "list" as const,
  has_more: false,
  next_cursor: null,
  data,
})
