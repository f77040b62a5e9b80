import type * as Labels from "@waybill/domain/email/Labels"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as RecipientPart from "@waybill/domain/search/RecipientPart"
import type * as Address from "@waybill/domain/values/Address"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import type { Follower } from "../feed/Follower.ts"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import * as IdKey from "../postgres/IdKey.ts"
import * as EmailIds from "./EmailIds.ts"
import * as EmailSpan from "./EmailSpan.ts"
import * as EmailSubjects from "../readmodels/emails/EmailSubjects.ts"
import * as EmailTerms from "./EmailTerms.ts"
import type { Sql } from "../postgres/Sql.ts"

const NAME = "search_words"

/** Events of an account behind the follower up to which a search lists their messages, rather than walk the log. */
export const MAX_UNREAD = 20_000

interface Queued {
  readonly from: { readonly address: Address.Address }
  readonly to: ReadonlyArray<{ readonly address: Address.Address }>
  readonly cc: Queued["to"]
  readonly bcc: Queued["to"]
  readonly tags: ReadonlyArray<string>
  readonly metadata?: Labels.Metadata
  readonly api_key_id: string | null
}

interface Word {
  readonly account: IdKey.IdKey
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
    const spans = new Map<string, readonly [account: IdKey.IdKey, api_key: IdKey.IdKey, span: number]>()
    for (const { account_id, data, stream_id } of events) {
      const { api_key_id, bcc, cc, from, metadata = {}, tags, to } = data as unknown as Queued
      const account = IdKey.of(account_id)
      const add = (term: string, text: string) =>
        words.set(`${account} ${term}`, { account, term, folded: EmailSubjects.fold(text) })
      for (const { address } of [...to, ...cc, ...bcc]) add(EmailLog.recipientTerm(address), address)
      add(EmailLog.senderTerm(from.address), from.address)
      for (const tag of tags) add(EmailLog.tagTerm(tag), tag)
      // The names of pairs are few, so that a value is looked up with each of them.
      for (const name of Object.keys(metadata)) add(`${NAME_TERM}${name}`, "")
      const span = EmailSpan.of(stream_id)
      if (api_key_id !== null) spans.set(`${account} ${api_key_id} ${span}`, [account, IdKey.of(api_key_id), span])
    }
    const [newWords, newSpans] = [[...words.values()], [...spans.values()]]
    yield* sql`
      INSERT INTO email_words (account_id, term, folded)
      SELECT * FROM unnest(${newWords.map((each) => each.account)}::uuid[],
        ${newWords.map((each) => each.term)}::text[], ${newWords.map((each) => each.folded)}::text[])
      ON CONFLICT (account_id, term) DO NOTHING`
    yield* sql`
      INSERT INTO email_key_spans (account_id, api_key_id, span)
      SELECT * FROM unnest(${newSpans.map(([account]) => account)}::uuid[],
        ${newSpans.map(([, key]) => key)}::uuid[], ${newSpans.map(([, , span]) => span)}::int[])
      ON CONFLICT (account_id, api_key_id, span) DO NOTHING`
  }),
}

/** Begins the words that are names of pairs of metadata, and the end of their range. */
const NAME_TERM = "name:"
const AFTER_NAMES = "name;"
/** Names of an account with which a value is looked up. */
export const MAX_NAMES = 50

/** A part of a message's texts, folded. */
export interface Part {
  /** The part as it was typed, which may be the value of a pair of metadata. */
  readonly text: string
  readonly folded: string
  /** The part with small ASCII letters, for texts that are not stored folded. */
  readonly lower: string
  /** Where the part is looked for; "anywhere" is recipients, the sender, the subject, tags, values of metadata and the beginning of the id. */
  readonly where: "anywhere" | "recipient" | "subject"
  /** The ids that begin with the part; none if it is not the beginning of an id, or not looked for there. */
  readonly ids: ReadonlyArray<EmailIds.IdRange>
  /** Providers of mailboxes, of which a recipient has an address, instead of a text; empty for texts. */
  readonly providers: ReadonlyArray<MailboxProvider.MailboxProvider>
  /** Expression that an address in small letters has, if the part is one of a word. */
  readonly expression: string | undefined
}

/** Returns LIKE patterns, one of which texts with a part in its form have; few other texts do. */
export const patternsOf = (form: string, { providers }: Part): ReadonlyArray<string> =>
  (providers.length === 0 ? [form] : MailboxProvider.partsOf(providers)).map(EmailSubjects.pattern)

export const part = (text: string, where: Part["where"]): Part => {
  const lower = EmailSubjects.lowerAscii(text)
  return {
    text,
    folded: EmailSubjects.fold(text),
    lower,
    where,
    ids: where === "anywhere" ? EmailIds.startingWith(lower) : [],
    providers: [],
    expression: undefined,
  }
}

/** Addresses at providers, which are found by their domains. */
export const atProviders = (providers: Part["providers"]): Part => ({ ...part("@", "recipient"), providers })

export const ofRecipient = (typed: string): Part => {
  const read = RecipientPart.of(typed)
  const found = part(read.text, "recipient")
  return { ...found, expression: RecipientPart.expressionOf({ ...read, text: found.lower }) }
}

/** Keys of texts that contain a part, and messages with it that the follower may not have read. */
export interface Found {
  readonly terms: EmailTerms.Terms
  readonly unread: ReadonlyArray<IdKey.IdKey>
}

/**
 * Returns the keys of all texts with the part, and the messages that the follower has not read and whose first event,
 * `accepted`, holds a condition. Undefined if an index cannot look the part up, or if there are more texts than the limit.
 */
export const withPart = Effect.fnUntraced(function* (
  sql: Sql,
  account_id: string,
  part: Part,
  isUnread: Statement.Fragment,
  limit: number,
) {
  if (part.providers.length === 0 && !EmailSubjects.isIndexed(part.folded)) return undefined
  const [found] = yield* partStatement(sql, account_id, part, isUnread, limit)
  if (found === undefined || found.events > MAX_UNREAD) return undefined
  const { ids, subjects, words } = found
  if (subjects.length + words.length > limit) return undefined
  const terms = { ...EmailTerms.of(words), subjects: subjects.map(BigInt), ids: part.ids }
  return { terms, unread: ids.map(IdKey.fromUuid) } satisfies Found
})

interface Unread {
  /** Number of events of the account behind the follower, up to one more than `MAX_UNREAD`. */
  readonly events: number
  readonly ids: ReadonlyArray<string>
}

interface PartRow extends Unread {
  readonly subjects: ReadonlyArray<string>
  readonly words: ReadonlyArray<string>
}

/**
 * One snapshot, so that each message is either read by the follower or among the unread ones. Materialized, the texts are planned
 * to be read in full, from the index, and are read up to the limit.
 */
export const partStatement = (
  sql: Sql,
  account_id: string,
  part: Part,
  isUnread: Statement.Fragment,
  limit: number,
) => {
  const { folded, text, where } = part
  const account = IdKey.of(account_id)
  const none = sql`SELECT NULL::text AS term WHERE false`
  const words = sql`SELECT term FROM email_words
    WHERE account_id = ${account}::uuid AND ${hasText(sql, sql.literal("folded"), folded, part)}
      ${where === "recipient" ? sql`AND starts_with(term, 'to:')` : sql`UNION ALL ${pairsWith(sql, account, text)}`}`
  return sql<PartRow>`
    WITH subjects AS MATERIALIZED (${where === "recipient" ? none : EmailSubjects.withPart(sql, account, folded)}),
      words AS MATERIALIZED (${where === "subject" ? none : words})
    SELECT ARRAY(SELECT term::text FROM subjects LIMIT ${limit + 1}::int) AS subjects,
      ARRAY(SELECT term FROM words LIMIT ${limit + 1}::int) AS words, unread.events, unread.ids
    FROM (${unreadStatement(sql, account_id, where === "subject" ? sql.literal("false") : isUnread)}) AS unread`
}

/** Selects the pairs of metadata with a value that messages have, by the names of the account's pairs. */
const pairsWith = (sql: Sql, account: IdKey.IdKey, value: string): Statement.Fragment => sql`
  SELECT pair.term FROM (
    SELECT 'metadata:' || substr(term, ${NAME_TERM.length + 1}::int) || chr(10) || ${value} AS term FROM email_words
    WHERE account_id = ${account}::uuid AND term > ${NAME_TERM} AND term < ${AFTER_NAMES} ORDER BY term LIMIT ${MAX_NAMES}::int
  ) AS pair
  WHERE EXISTS (SELECT FROM email_log_terms t WHERE t.account_id = ${account}::uuid AND t.term = term_key(pair.term))`

/** Whether a text is LIKE a part in its form; an address in small letters, that it is one of the part's providers. */
export const hasText = (sql: Sql, text: Statement.Fragment, form: string, part: Part): Statement.Fragment => {
  const patterns = patternsOf(form, part)
  return part.providers.length === 0
    ? sql`${text} LIKE ${patterns[0]}`
    : sql`${text} LIKE ANY(${patterns}::text[]) AND ${text} ~ ${MailboxProvider.expressionOf(part.providers)}`
}

/**
 * Returns the messages of an account that the follower has not read and whose first event, `accepted`, holds a condition;
 * undefined if there are too many events behind the follower.
 */
export const unread = Effect.fnUntraced(function* (sql: Sql, account_id: string, condition: Statement.Fragment) {
  const [row] = yield* sql<Unread>`${unreadStatement(sql, account_id, condition)}`
  return row === undefined || row.events > MAX_UNREAD ? undefined : row.ids.map(IdKey.fromUuid)
})

const unreadStatement = (sql: Sql, account_id: string, condition: Statement.Fragment): Statement.Fragment => sql`
  SELECT count(*)::int AS events,
    coalesce(array_agg(id_key(accepted.stream_id)) FILTER (WHERE accepted.type = 'EmailQueued' AND ${condition}), '{}') AS ids
  FROM (
    SELECT type, stream_id, data, meta, packed FROM events
    WHERE account_id = ${account_id} AND position > (SELECT position FROM followers WHERE name = ${NAME})
    ORDER BY position LIMIT ${MAX_UNREAD + 1}::int) AS accepted`

/** Removes words that no message of the account has any more, of the words that removed messages had. */
export const removeUnused = (sql: Sql, account: IdKey.IdKey, terms: ReadonlyArray<string>) => sql`
  DELETE FROM email_words w WHERE w.account_id = ${account}::uuid AND w.term = ANY(${terms}::text[])
    AND NOT EXISTS (SELECT 1 FROM email_log l WHERE l.account_id = w.account_id AND l.to_key = term_key(w.term))
    AND NOT EXISTS (SELECT 1 FROM email_log l WHERE l.account_id = w.account_id AND l.from_key = term_key(w.term))
    AND NOT EXISTS (SELECT 1 FROM email_log l WHERE l.account_id = w.account_id AND l.tag_key = term_key(w.term))
    AND NOT EXISTS (SELECT 1 FROM email_log_terms t WHERE t.account_id = w.account_id AND t.term = term_key(w.term))`

/** Removes the spans before the oldest message that an account keeps. */
export const removeSpans = Effect.fnUntraced(function* (sql: Sql, account: IdKey.IdKey) {
  const [oldest] = yield* sql<{ readonly id: string }>`
    SELECT id FROM email_log WHERE account_id = ${account}::uuid ORDER BY id LIMIT 1`
  yield* sql`
    DELETE FROM email_key_spans WHERE account_id = ${account}::uuid
      ${oldest === undefined ? sql.literal("") : sql`AND span < ${EmailSpan.of(IdKey.idOf("EmailId", oldest.id))}::int`}`
})
