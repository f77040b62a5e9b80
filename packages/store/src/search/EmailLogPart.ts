import type { Statement } from "effect/sql"
import * as PackedSql from "../packed/PackedSql.ts"
import * as EmailIds from "./EmailIds.ts"
import * as EmailSubjects from "../readmodels/EmailSubjects.ts"
import type * as EmailWords from "./EmailWords.ts"
import type { Sql } from "../postgres/Sql.ts"

const RECIPIENTS = ["to", "cc", "bcc"]

/** False for most first events, `accepted`, of messages without the part. It holds for all of those with it. */
export const mayHave = (sql: Sql, { lower }: EmailWords.Part): Statement.Fragment => mayHold(sql, lower)

/** Whether a row `l` of the log, whose first event is `accepted`, has the part. */
export const has = (sql: Sql, { folded, ids, lower, where }: EmailWords.Part): Statement.Fragment => {
  // A subquery with a LIMIT is answered by the index for each row, and never by reading all subjects.
  const inSubject = sql`(SELECT s.folded LIKE ${EmailSubjects.pattern(folded)} FROM email_subjects s
    WHERE s.account_id = l.account_id AND s.term = l.subject_key LIMIT 1)`
  if (where === "subject") return inSubject
  const mailboxes = RECIPIENTS.map(
    (kind) => sql`SELECT ${PackedSql.items(sql, "accepted", "EmailQueued", kind)} AS mailbox`,
  )
  const inRecipient = sql`${mayHold(sql, lower)} AND EXISTS (SELECT FROM (${sql.join(" UNION ALL ", false)(mailboxes)}) AS r
    WHERE lower(mailbox_address(r.mailbox) COLLATE "C") LIKE ${EmailSubjects.pattern(lower)})`
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

/** False for nearly all events without the text, at less cost than to read their fields. */
const mayHold = (sql: Sql, lower: string): Statement.Fragment =>
  AS_IT_IS.test(lower)
    ? sql`(accepted.packed IS NULL OR lower(accepted.packed COLLATE "C") LIKE ${EmailSubjects.pattern(lower)})`
    : sql.literal("true")
