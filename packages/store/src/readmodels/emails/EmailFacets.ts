import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import { Effect } from "effect"
import type * as IdKey from "../../postgres/IdKey.ts"
import type { Client } from "../../postgres/Sql.ts"

/**
 * Bits of a number that say about a message more than its status: the status of each recipient if they differ, and
 * whether it is queued with a scheduled time. Most messages have none, and an index of the others stays small.
 */
export type Facets = number

/** Numbers of the statuses and of their bits. Rows hold them, so that they never change. */
const NUMBERS: { readonly [S in EmailStatus.Status]: number } = {
  queued: 0,
  deferred: 1,
  sent: 2,
  delivered: 3,
  bounced: 4,
  failed: 5,
  suppressed: 6,
  canceled: 7,
  complained: 8,
}
const bitOf = (status: EmailStatus.Status): Facets => 1 << NUMBERS[status]

export const numberOf = (status: EmailStatus.Status): number => NUMBERS[status]

/** Whether an index lists the messages with the status. Nearly all messages are delivered, and before that queued. */
export const isListed = (status: EmailStatus.Status): boolean => status !== "queued" && status !== "delivered"

/** Returns the number by which the index lists a message with the status; 0 if it does not. */
export const listedAs = (status: EmailStatus.Status): number => (isListed(status) ? NUMBERS[status] : 0)

/** Queued with a scheduled time, which may have passed. */
export const SCHEDULED: Facets = 1 << 9

interface Message {
  readonly recipients: ReadonlyArray<{ readonly status: EmailStatus.Status }>
  readonly scheduled_at: string | null
}

export const of = ({ recipients, scheduled_at }: Message): Facets => {
  let statuses: Facets = 0
  for (const { status } of recipients) statuses |= bitOf(status)
  const isScheduled = scheduled_at !== null && EmailStatus.ofRecipients(recipients) === "queued"
  return (hasAtMostOneBit(statuses) ? 0 : statuses) | (isScheduled ? SCHEDULED : 0)
}

const hasAtMostOneBit = (facets: Facets): boolean => (facets & (facets - 1)) === 0

/** Returns the bits of these statuses. */
export const any = (statuses: ReadonlyArray<EmailStatus.Status>): Facets =>
  statuses.reduce((facets, status) => facets | bitOf(status), 0)

/**
 * Selects the values of messages that have a recipient with one of these statuses while the message itself has another
 * status. Messages whose own status is one of these are found by it.
 */
export const withRecipients = (
  known: ReadonlyArray<Facets>,
  statuses: ReadonlyArray<EmailStatus.Status>,
): ReadonlyArray<Facets> =>
  known.filter((facets) => {
    const recipients = EmailStatus.ALL.filter((status) => (facets & bitOf(status)) !== 0)
    return (facets & any(statuses)) !== 0 && !statuses.includes(EmailStatus.ofRecipients(recipients.map(asRecipient)))
  })

const asRecipient = (status: EmailStatus.Status) => ({ status })

export const withSchedule = (known: ReadonlyArray<Facets>): ReadonlyArray<Facets> =>
  known.filter((facets) => (facets & SCHEDULED) !== 0)

/** Selects the messages with one of these statuses. */
export const hasStatus = (sql: Client<unknown>, log: string, statuses: ReadonlyArray<EmailStatus.Status>) =>
  sql`${sql.literal(log)}.status = ANY(${statuses.map(numberOf)}::smallint[])`

/** Selects the messages of which a recipient has one of these statuses, whatever their own status is. */
export const haveRecipient = (sql: Client<unknown>, log: string, statuses: ReadonlyArray<EmailStatus.Status>) =>
  sql`(${hasStatus(sql, log, statuses)} OR ${sql.literal(log)}.facets & ${any(statuses)}::int <> 0)`

/** A column of the log that is 0 for nearly all messages, and whose index lists the others by their values. */
export type Listed = "facets" | "code"

/** Returns the different values of an account's messages. Jumps from one to the next in the index. */
export const known = <E>(sql: Client<E>, account: IdKey.IdKey, column: Listed) =>
  Effect.map(knownStatement(sql, account, column), (rows) => rows.map(({ value }) => value))

export const knownStatement = <E>(sql: Client<E>, account: IdKey.IdKey, column: Listed) => {
  const value = sql.literal(column)
  return sql<{ readonly value: number }>`
    WITH RECURSIVE known AS (
      (SELECT ${value} AS value FROM email_log WHERE account_id = ${account}::uuid AND ${value} > 0 ORDER BY ${value} LIMIT 1)
      UNION ALL
      SELECT next.value FROM known CROSS JOIN LATERAL (
        SELECT ${value} AS value FROM email_log
        WHERE account_id = ${account}::uuid AND ${value} > 0 AND ${value} > known.value ORDER BY ${value} LIMIT 1) AS next)
    SELECT value FROM known`
}
