import type { AcceptedEmail } from "@waybill/domain/email/EmailState"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import type { Statement } from "effect/sql"
import * as PackedSql from "../packed/PackedSql.ts"
import * as EmailIds from "./EmailIds.ts"
import * as EmailSubjects from "../readmodels/emails/EmailSubjects.ts"
import * as EmailWords from "./EmailWords.ts"
import type { Sql } from "../postgres/Sql.ts"

const RECIPIENTS = ["to", "cc", "bcc"]

/** Characters of which folding makes these. */
export const FOLDED: ReadonlyArray<readonly [folded: string, characters: string]> = [
  ["k", "\u212A"],
  ["i", "\u0130"],
  [";", "\u037E"],
  ["`", "\u1FEF"],
]

/** `mayHave`, also if the part may be in the subject, which is compared folded. */
export const mayHaveAnywhere = (sql: Sql, part: EmailWords.Part): Statement.Fragment =>
  mayHave(
    sql,
    part,
    FOLDED.flatMap(([folded, character]) =>
      part.where !== "recipient" && part.lower.includes(folded) ? [EmailSubjects.pattern(character)] : [],
    ),
  )

/** Whether a row `l` of the log, whose first event is `accepted`, has the part. */
export const has = (sql: Sql, part: EmailWords.Part): Statement.Fragment => {
  const { folded, ids, lower, text, where } = part
  const isHeld = mayHave(sql, part)
  const hasLower = (field: Statement.Fragment) => {
    const small = sql`lower(${field} COLLATE "C")`
    const isLike = EmailWords.hasText(sql, small, lower, part)
    return part.expression === undefined ? isLike : sql`${isLike} AND ${small} ~ ${part.expression}`
  }
  // A subquery with a LIMIT is answered by the index for each row, and never by reading all subjects.
  const inSubject = sql`(SELECT s.folded LIKE ${EmailSubjects.pattern(folded)} FROM email_subjects s
    WHERE s.account_id = l.account_id AND s.term = l.subject_key LIMIT 1)`
  if (where === "subject") return inSubject
  const mailboxes = RECIPIENTS.map(
    (kind) => sql`SELECT ${PackedSql.items(sql, "accepted", "EmailQueued", kind)} AS mailbox`,
  )
  // Most messages are to one recipient without a name, packed as it is; to read a list costs forty times as much.
  const only = PackedSql.field(sql, "accepted", "EmailQueued", "to")
  const inOnly = sql`${only} NOT LIKE '[%' AND ${hasLower(only)}`
  const inRecipient = sql`${isHeld} AND (${inOnly} OR EXISTS (SELECT FROM (${sql.join(" UNION ALL ", false)(mailboxes)}) AS r
    WHERE ${hasLower(sql.literal("mailbox_address(r.mailbox)"))}))`
  if (where === "recipient") return inRecipient
  const hasId = ids.map((each) => sql`${EmailIds.isWithin(sql, sql.literal("l.id"), each)} OR`)
  return sql`${sql.join(" ", false)(hasId)} ${inSubject} OR ${inRecipient}
    OR ${isHeld} AND (${hasLower(sender(sql))}
    OR EXISTS (
    SELECT FROM ${PackedSql.items(sql, "accepted", "EmailQueued", "tags")} AS tag
    WHERE ${hasLower(sql.literal("tag #>> '{}'"))})
    OR EXISTS (
    SELECT FROM jsonb_each_text(${PackedSql.field(sql, "accepted", "EmailQueued", "metadata")}::jsonb) AS pair
    WHERE pair.value = ${text}))`
}

/** The address of the sender: packed it is the address alone, and JSON if there is a name. */
const sender = (sql: Sql): Statement.Fragment => sql`(
  SELECT CASE WHEN mailbox ~ '^[[{]' THEN mailbox_address(mailbox::jsonb) ELSE mailbox END
  FROM (SELECT ${PackedSql.field(sql, "accepted", "EmailQueued", "from")} AS mailbox) AS f)`

/** Characters that a packed event holds as they are. */
const AS_IT_IS = /^[ !#-[\]-~]*$/u

/** Whether an event tells the part by its bytes. */
export const isAsItIs = ({ lower }: EmailWords.Part): boolean => AS_IT_IS.test(lower)

/**
 * False for nearly all first events, `accepted`, without the part or one of the other patterns, at less cost than to read their
 * fields. It holds for all of those with it.
 */
export const mayHave = (sql: Sql, part: EmailWords.Part, others: ReadonlyArray<string> = []): Statement.Fragment => {
  if (!isAsItIs(part)) return sql.literal("true")
  const patterns = [...EmailWords.patternsOf(part.lower, part), ...others]
  const isLike = patterns.length === 1 ? sql`${patterns[0]}` : sql`ANY(${patterns}::text[])`
  return sql`(accepted.packed IS NULL OR lower(accepted.packed COLLATE "C") LIKE ${isLike})`
}

/** Whether a message has the part. */
export const isIn = ({ accepted, recipients }: AcceptedEmail, part: EmailWords.Part): boolean => {
  const { folded, ids, text, where } = part
  return (
    (where !== "recipient" && EmailSubjects.fold(accepted.subject).includes(folded)) ||
    (where !== "subject" && recipients.some(({ address }) => isInAddress(address, part))) ||
    (where === "anywhere" &&
      (hasLower(accepted.from.address, part) ||
        accepted.tags.some((tag) => hasLower(tag, part)) ||
        Object.values(accepted.metadata ?? {}).includes(text))) ||
    ids.some(({ beginning }) => accepted.email_id.startsWith(beginning))
  )
}

/** Whether the address of a recipient has the part. */
export const isInAddress = (address: string, part: EmailWords.Part): boolean => {
  const { expression, providers } = part
  if (providers.length > 0) return isAt(providers, address)
  return expression === undefined
    ? hasLower(address, part)
    : new RegExp(expression, "u").test(EmailSubjects.lowerAscii(address))
}

const hasLower = (text: string, { lower }: EmailWords.Part): boolean => EmailSubjects.lowerAscii(text).includes(lower)

const isAt = (providers: EmailWords.Part["providers"], address: string): boolean => {
  const provider = MailboxProvider.of(address)
  return provider !== MailboxProvider.OTHER && providers.includes(provider)
}
