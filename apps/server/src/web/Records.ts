import type { EventRecord } from "@waybill/api/schemas/EventRecord"
import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import * as EmailEvent from "@waybill/domain/email/EmailEvent"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as Tracking from "@waybill/domain/domain/Tracking"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import type { Stored } from "@waybill/store/log/RecordedEvents"
import type { EmailLogRecord } from "@waybill/store/readmodels/emails/EmailLogRecord"
import * as Warnings from "../accept/Warnings.ts"

/** Types a row of the log as the API's record. Rows of live mail, which are most, do not say so, nor those without a clock, a template or tracking. */
export const emailRecord = (row: EmailLogRecord): EmailRecord => ({
  livemode: true,
  test_clock: null,
  template: null,
  tracking: Tracking.NONE,
  ...row,
})

/** Fields of events that no client sees. */
const PRIVATE: ReadonlySet<string> = new Set(["hash", "secret_ref", "previous_ref", "password_ref", "key_ref"])

/** Fields whose names are the customer's. */
const FOREIGN: ReadonlySet<string> = new Set(["headers", "metadata"])

const publicFields = (value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, each]) =>
          PRIVATE.has(name) ? [] : [[name, FOREIGN.has(name) ? each : publicFields(each)]],
        ),
      )
    : value

/** Adds `name: null` to mailboxes without a name, because the API shows absent values as null. */
const withNames = (data: Stored["data"]): Stored["data"] =>
  Object.fromEntries(
    Object.entries(data).map(([field, value]) => {
      if (field === "from") return [field, named(value as object)]
      return MAILBOXES.has(field) && Array.isArray(value) ? [field, value.map(named)] : [field, value]
    }),
  )

/** An acceptance as clients see it: its mailboxes with names, and what the sender probably did not mean. */
const acceptance = (data: Stored["data"]): Stored["data"] => {
  const accepted = data as unknown as EmailEvent.EmailQueued
  const warnings = Warnings.notesOf(accepted)
  return {
    ...withNames(data),
    ...(accepted.template === undefined ? {} : { template: EmailEvent.publicTemplate(accepted.template) }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

const MAILBOXES: ReadonlySet<string> = new Set(["to", "cc", "bcc", "reply_to"])
const named = (mailbox: { readonly name?: string }): object => ({ ...mailbox, name: mailbox.name ?? null })

type Fact = Pick<Stored, "account_id" | "event_id" | "version" | "type" | "data" | "meta" | "recorded_at">

/** Returns an event in its present public form: type name, cursor, time and actor. */
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
    livemode: Livemode.isLive(fact.account_id),
    occurred_at: (at ?? data["created_at"] ?? fact.recorded_at) as Timestamp.Timestamp,
    actor: { type: fact.meta.actor.type, id: fact.meta.actor.id },
    request_id: fact.meta.request_id,
    data: publicFields(fact.type === "EmailQueued" ? acceptance(data) : data) as EventRecord["data"],
  }
}

/** Returns a complete list, for collections that are small for every account. */
export const completeList = <A>(data: ReadonlyArray<A>) => ({
  object: "list" as const,
  has_more: false,
  next_cursor: null,
  data,
})
