import type { PgClient } from "@effect/sql-pg"
import type * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect } from "effect"
import type { Follower } from "../feed/Follower.ts"
import * as EmailLog from "../readmodels/EmailLog.ts"
import * as Iso from "../postgres/Iso.ts"
import * as EmailSpan from "./EmailSpan.ts"
import * as EmailSubjects from "./EmailSubjects.ts"

const NAME = "email_words"

/**
 * Maximum time between the creation of an id and its commit. Mail younger than the follower's position by less than
 * this may still be unread, because commits are not in the order of ids.
 */
export const UNREAD_MARGIN_MS = 60_000

interface Queued {
  readonly to: ReadonlyArray<{ readonly address: Address.Address }>
  readonly cc: Queued["to"]
  readonly bcc: Queued["to"]
  readonly tags: ReadonlyArray<string>
  readonly api_key_id: string | null
}

interface Word {
  readonly account_id: string
  readonly term: string
  readonly folded: string
}

/**
 * Writes the words of messages, and the spans of keys, after the commits. Nothing depends on how far it has come except
 * the cost of a search, so that it may pause while the service is busy.
 */
export const follower: Pick<Follower, "name" | "types" | "count"> = {
  name: NAME,
  types: ["EmailQueued"],
  count: Effect.fnUntraced(function* (sql, events) {
    const words = new Map<string, Word>()
    const spans = new Map<string, readonly [account_id: string, api_key_id: string, span: string]>()
    for (const { account_id, data, stream_id } of events) {
      const { api_key_id, bcc, cc, tags, to } = data as unknown as Queued
      const add = (term: string, text: string) =>
        words.set(`${account_id} ${term}`, { account_id, term, folded: EmailSubjects.fold(text) })
      for (const { address } of [...to, ...cc, ...bcc]) add(EmailLog.recipientTerm(address), address)
      for (const tag of tags) add(EmailLog.tagTerm(tag), tag)
      const span = EmailSpan.of(stream_id)
      if (api_key_id !== null) spans.set(`${account_id} ${api_key_id} ${span}`, [account_id, api_key_id, span])
    }
    const [newWords, newSpans] = [[...words.values()], [...spans.values()]]
    yield* sql`
      INSERT INTO email_words (account_id, term, folded)
      SELECT * FROM unnest(${newWords.map((each) => each.account_id)}::text[],
        ${newWords.map((each) => each.term)}::text[], ${newWords.map((each) => each.folded)}::text[])
      ON CONFLICT (account_id, term) DO NOTHING`
    yield* sql`
      INSERT INTO email_key_spans (account_id, api_key_id, span)
      SELECT * FROM unnest(${newSpans.map(([account_id]) => account_id)}::text[],
        ${newSpans.map(([, key]) => key)}::text[], ${newSpans.map(([, , span]) => span)}::text[])
      ON CONFLICT (account_id, api_key_id, span) DO NOTHING`
  }),
}

/** A part of a message's texts, folded. */
export interface Part {
  readonly folded: string
  /** The part with small ASCII letters, for texts that are not stored folded. */
  readonly lower: string
  /** Where the part is looked for; "anywhere" is recipients, subject and tags. */
  readonly where: "anywhere" | "recipient" | "subject"
}

export const part = (text: string, where: Part["where"]): Part => ({
  folded: EmailSubjects.fold(text),
  lower: text.replace(/[A-Z]+/gu, (letters) => letters.toLowerCase()),
  where,
})

/** Whether the words that the follower has not read yet matter to a search for the part. */
export const isFollowed = ({ where }: Part): boolean => where !== "subject"

/**
 * Returns the terms of all messages with the part, of those that the follower has read; undefined if an index cannot
 * look it up, or if they are more than the limit.
 */
export const termsWith = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  account_id: string,
  { folded, where }: Part,
  limit: number,
) {
  if (!EmailSubjects.isIndexed(folded)) return undefined
  const subjects = where === "recipient" ? [] : yield* EmailSubjects.termsWith(sql, account_id, folded, limit + 1)
  const others = where === "subject" ? [] : yield* wordsStatement(sql, account_id, folded, where, limit + 1)
  const terms = [...subjects, ...others].map(({ term }) => term)
  return terms.length > limit ? undefined : terms
})

export const wordsStatement = (
  sql: PgClient.PgClient,
  account_id: string,
  folded: string,
  where: Part["where"],
  limit: number,
) => sql<{ readonly term: string }>`
  SELECT term FROM email_words
  WHERE account_id = ${account_id} AND folded LIKE ${EmailSubjects.pattern(folded)}
    ${where === "recipient" ? sql`AND starts_with(term, 'to:')` : sql.literal("")}
  ORDER BY account_id, term LIMIT ${limit}::int`

/** Returns the id above which the follower may not have read messages. */
export const unreadAbove = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const [last] = yield* sql<{ readonly recorded_at: Timestamp.Timestamp }>`
    SELECT ${Iso.iso(sql, "recorded_at")} AS recorded_at FROM events
    WHERE position <= (SELECT position FROM followers WHERE name = ${NAME}) ORDER BY position DESC LIMIT 1`
  return last === undefined
    ? ""
    : Id.lowest("EmailId", Math.max(0, Timestamp.toMillis(last.recorded_at) - UNREAD_MARGIN_MS))
})

/** Removes words that no message of the account has any more, of the words that removed messages had. */
export const removeUnused = (sql: PgClient.PgClient, account_id: string, terms: ReadonlyArray<string>) => sql`
  DELETE FROM email_words w WHERE w.account_id = ${account_id} AND w.term = ANY(${terms}::text[])
    AND NOT EXISTS (SELECT 1 FROM email_log_terms t WHERE t.account_id = w.account_id AND t.term = w.term)`

/** Removes the spans before the oldest message that an account keeps. */
export const removeSpans = (sql: PgClient.PgClient, account_id: string) => sql`
  DELETE FROM email_key_spans WHERE account_id = ${account_id} AND span < left(coalesce(
    (SELECT id FROM email_log WHERE account_id = ${account_id} ORDER BY id LIMIT 1), '~'), ${EmailSpan.LETTERS}::int)`
