import type { Statement } from "effect/sql"
import * as PackedSql from "../packed/PackedSql.ts"
import * as EmailIds from "./EmailIds.ts"
import * as EmailSubjects from "../readmodels/EmailSubjects.ts"
import type * as EmailWords from "./EmailWords.ts"
import type { Sql } from "../postgres/Sql.ts"

const RECIPIENTS = ["to", "cc", "bcc"]

/** False for most first events, `accepted`, of messages without the part. It holds for all of those with it. */
export const mayHave = (sql: Sql, { lower }: EmailWords.Part): Statement.Fragment => mayHold(sql, lower)

/** Characters of which folding makes these. */
export const FOLDED: ReadonlyArray<readonly [folded: string, characters: string]> = [
  ["k", "\u212A"],
  ["i", "\u0130"],
  [";", "\u037E"],
  ["`", "\u1FEF"],
]

/** The same, also if the part may be in the subject, which is compared folded. */
export const mayHaveAnywhere = (sql: Sql, { lower, where }: EmailWords.Part): Statement.Fragment =>
  mayHold(
    sql,
    lower,
    FOLDED.flatMap(([folded, character]) => (where !== "recipient" && lower.includes(folded) ? [character] : [])),
  )

/** Whether a row `l` of the log, whose first event is `accepted`, has the part. */
export const has = (sql: Sql, { folded, ids, lower, where }: EmailWords.Part): Statement.Fragment => {
  // A subquery with a LIMIT is answered by the index for each row, and never by reading all subjects.
  const inSubject = sql`(SELECT s.folded LIKE ${EmailSubjects.pattern(folded)} FROM email_subjects s
    WHERE s.account_id = l.account_id AND s.term = l.subject_key LIMIT 1)`
  if (where === "subject") return inSubject
  const mailboxes = RECIPIENTS.map(
    (kind) => sql`SELECT ${PackedSql.items(sql, "accepted", "EmailQueued", kind)} AS mailbox`,
  )
  // Most messages are to one recipient without a name, packed as it is; to read a list costs forty times as much.
  const only = PackedSql.field(sql, "accepted", "EmailQueued", "to")
  const inOnly = sql`${only} NOT LIKE '[%' AND lower(${only} COLLATE "C") LIKE ${EmailSubjects.pattern(lower)}`
  const inRecipient = sql`${mayHold(sql, lower)} AND (${inOnly} OR EXISTS (SELECT FROM (${sql.join(" UNION ALL ", false)(mailboxes)}) AS r
    WHERE lower(mailbox_address(r.mailbox) COLLATE "C") LIKE ${EmailSubjects.pattern(lower)}))`
  if (where === "recipient") return inRecipient
  const hasId = ids.map((each) => sql`${EmailIds.isWithin(sql, sql.literal("l.id"), each)} OR`)
  return sql`${sql.join(" ", false)(hasId)} ${inSubject} OR ${inRecipient}
    OR ${mayHold(sql, lower)} AND lower(${sender(sql)} COLLATE "C") LIKE ${EmailSubjects.pattern(lower)}
    OR ${mayHold(sql, lower)} AND EXISTS (
    SELECT FROM ${PackedSql.items(sql, "accepted", "EmailQueued", "tags")} AS tag
    WHERE lower(tag #>> '{}' COLLATE "C") LIKE ${EmailSubjects.pattern(lower)})`
}

/** The address of the sender: packed it is the address alone, and JSON if there is a name. */
const sender = (sql: Sql): Statement.Fragment => sql`(
  SELECT CASE WHEN mailbox ~ '^[[{]' THEN mailbox_address(mailbox::jsonb) ELSE mailbox END
  FROM (SELECT ${PackedSql.field(sql, "accepted", "EmailQueued", "from")} AS mailbox) AS f)`

/** Characters that a packed event holds as they are. */
const AS_IT_IS = /^[ !#-[\]-~]*$/u

/** Whether an event tells the part by its bytes. */
export const isAsItIs = ({ lower }: EmailWords.Part): boolean => AS_IT_IS.test(lower)

/** False for nearly all events without the text or one of the others, at less cost than to read their fields. */
const mayHold = (sql: Sql, lower: string, others: ReadonlyArray<string> = []): Statement.Fragment => {
  if (!AS_IT_IS.test(lower)) return sql.literal("true")
  const [pattern, ...further] = [lower, ...others].map(EmailSubjects.pattern)
  const isLike = further.length === 0 ? sql`${pattern}` : sql`ANY(${[pattern, ...further]}::text[])`
  return sql`(accepted.packed IS NULL OR lower(accepted.packed COLLATE "C") LIKE ${isLike})`
}
