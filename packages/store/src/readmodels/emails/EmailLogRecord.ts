import * as Email from "@waybill/domain/email/Email"
import * as EmailEvent from "@waybill/domain/email/EmailEvent"
import * as EmailState from "@waybill/domain/email/EmailState"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import type { Recipient } from "@waybill/domain/email/Recipient"
import * as Address from "@waybill/domain/values/Address"
import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import { eventInPlace } from "../../log/eventInPlace.ts"
import * as Layout from "../../packed/Layout.ts"
import * as PackedEvent from "../../packed/PackedEvent.ts"
import type { Sql, Client } from "../../postgres/Sql.ts"

/** Log record of a message. It is stored nowhere: whoever shows it folds it from the events. */
export type EmailLogRecord = ReturnType<typeof of>

/** Returns the complete log record of a message. */
export const of = (message: EmailState.AcceptedEmail, version: number) => {
  const { accepted, recipients } = message
  const delivered = recipients.flatMap(({ delivered_at }) => (delivered_at === null ? [] : [delivered_at]))
  const nextAttempts = recipients.flatMap(({ next_attempt_at }) => (next_attempt_at === null ? [] : [next_attempt_at]))
  const mailbox = (each: Address.Mailbox) => Address.format(each)
  return {
    object: "email_log" as const,
    id: accepted.email_id,
    message_id: accepted.message_id,
    status: EmailState.status(message),
    from: mailbox(accepted.from),
    to: accepted.to.map(mailbox),
    cc: accepted.cc.map(mailbox),
    bcc: accepted.bcc.map(mailbox),
    reply_to: accepted.reply_to.map(mailbox),
    subject: accepted.subject,
    tags: accepted.tags,
    metadata: accepted.metadata ?? {},
    ...(accepted.template === undefined ? {} : { template: EmailEvent.publicTemplate(accepted.template) }),
    created_at: accepted.created_at,
    updated_at: message.updated_at,
    scheduled_at: message.scheduled_at,
    // The first delivery to any recipient: when the message began to arrive.
    delivered_at: delivered.length === 0 ? null : delivered.reduce((a, b) => (a < b ? a : b)),
    next_attempt_at: nextAttempts.length === 0 ? null : nextAttempts.reduce((a, b) => (a < b ? a : b)),
    attempts: recipients.reduce((most, { attempts }) => Math.max(most, attempts), 0),
    ...(accepted.tracking === undefined ? {} : { tracking: accepted.tracking }),
    opens: message.opens,
    clicks: message.clicks,
    api_key_id: accepted.api_key_id,
    ...(accepted.test_clock === undefined ? {} : { test_clock: accepted.test_clock }),
    domain: accepted.domain,
    ...(accepted.livemode === false ? { livemode: false } : {}),
    size_bytes: accepted.size_bytes,
    error: error(recipients),
    version,
    recipient_counts: EmailStatus.counts(recipients),
    recipients: recipients.map(({ address, attempts, kind, last_event_at, smtp, status, suppression }) => ({
      address,
      kind,
      status,
      attempts,
      last_event_at,
      suppression,
      smtp,
    })),
  }
}

const UNSUCCESSFUL: ReadonlyArray<EmailStatus.Status> = ["bounced", "failed", "deferred"]

/** Returns the error of the first recipient that has one; the errors of the others are in `recipients`. */
const error = (recipients: ReadonlyArray<Recipient>) => {
  const troubled = recipients.find(({ status }) => UNSUCCESSFUL.includes(status))
  if (troubled === undefined) return null
  const { address, smtp, status } = troubled
  return {
    recipient: address,
    status,
    category: smtp?.category ?? null,
    code: smtp?.code ?? null,
    enhanced_code: smtp?.enhanced_code ?? null,
    message: smtp?.response ?? null,
  }
}

/** Opens and clicks, which a message may have by the thousand. A record needs only their times. */
const VISITS = ["EmailOpened", "EmailClicked"]

/**
 * Events of a message in order, each as a line: its type and the packed event, or its type, schema version and data. Null if
 * nobody asked for them.
 */
export type History = ReadonlyArray<string> | null

const TIME = Layout.tokenOf("EmailOpened", "at")

/** SQL of the history of one message, for the statement that finds the message. Text is cheaper to make than JSON. */
export const history = (
  sql: Client<unknown>,
  account_id: Fragment,
  id: Fragment,
  which = sql.literal(""),
): Fragment => sql`ARRAY(
  SELECT CASE WHEN packed IS NULL THEN type || ' ' || (meta ->> 'schema_version') || ' '
      || CASE WHEN type = ANY(${VISITS}::text[]) THEN jsonb_build_object('at', data -> 'at') ELSE data END::text
    WHEN type = ANY(${VISITS}::text[])
      THEN type || E'\n' || ${"\t".repeat(TIME - 1)} || split_part(packed, E'\t', ${sql.literal(String(TIME))})
    ELSE type || E'\n' || packed END
  FROM events WHERE account_id = ${account_id} AND stream_id = ${id} AND stream = 'email' ${which} ORDER BY version)`

/** Folds a history; undefined if there is no such message. */
export const messageOf = (id: string, history: History): EmailState.AcceptedEmail | undefined => {
  if (history === null) return undefined
  const state = history.reduce((before, text) => Email.evolve(before, parse(id, text)), Email.initial)
  return state._tag === "NotCreated" ? undefined : state
}

/** Folds a history to its record; undefined if there is no such message. */
export const fold = (id: string, history: History): EmailLogRecord | undefined => {
  const message = messageOf(id, history)
  return message === undefined ? undefined : of(message, history?.length ?? 0)
}

/** Whether no event before this version has the type of the event that has it. */
export const isFirst = (history: History, version: number): boolean => {
  const types = (history ?? []).slice(0, version).map((text) => /^\w+/u.exec(text)?.[0])
  return types.indexOf(types.at(-1)) === types.length - 1
}

const parse = (id: string, text: string): Email.Event => {
  const end = text.indexOf("\n")
  if (end > 0) {
    const type = text.slice(0, end)
    const { data, schema_version } = PackedEvent.unpackData(type, id, text.slice(end + 1))
    return eventInPlace(Email, type, schema_version, data) as Email.Event
  }
  const version = text.indexOf(" ") + 1
  const data = text.indexOf(" ", version) + 1
  const fields = JSON.parse(text.slice(data)) as Record<string, unknown>
  return eventInPlace(Email, text.slice(0, version - 1), Number(text.slice(version, data)), fields) as Email.Event
}

/** Returns the records of an account's messages, by their ids. */
export const find = <I extends string>(sql: Sql, account_id: string, ids: ReadonlyArray<I>) =>
  read(sql, account_id, ids, sql.literal(""))

/** Returns the records of messages as they were accepted, whatever has happened since. */
export const accepted = <I extends string>(sql: Sql, account_id: string, ids: ReadonlyArray<I>) =>
  read(sql, account_id, ids, sql.literal("AND version = 1"))

const read = <I extends string>(sql: Sql, account_id: string, ids: ReadonlyArray<I>, which: Fragment) =>
  Effect.map(
    sql<{ readonly id: I; readonly history: History }>`
      SELECT wanted.id, ${history(sql, sql`${account_id}`, sql`wanted.id`, which)} AS history
      FROM unnest(${ids}::text[]) AS wanted(id)`,
    (rows) =>
      new Map(
        rows.flatMap(({ history, id }) => {
          const record = fold(id, history)
          return record === undefined ? [] : [[id, record] as const]
        }),
      ),
  )
