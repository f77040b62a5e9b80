import type * as Domain from "@waybill/domain/email/Content"
import type { Sha256 } from "@waybill/domain/values/Sha256"
import * as Turn from "@waybill/runtime/flow/Turn"
import { Effect, Option, Schema } from "effect"
import { hash } from "node:crypto"
import * as StoredContent from "./StoredContent.ts"
import { neededContent } from "./neededContent.ts"
import { Sql } from "../postgres/Sql.ts"

/** Rows that one statement of the expiry removes, so that locks are short. */
export const EXPIRY_BATCH = 1_000
/** Time that content is retained after its last day, because a message accepted as the day ends may rely on it. */
export const EXPIRY_GRACE = "1 hour"
/** Days that the content of test mail is retained, whatever the account's setting. */
export const TEST_CONTENT_DAYS = 1

export interface Blob {
  readonly sha256: Sha256
  readonly bytes: Uint8Array
}

/** Body of a message without attachments, stored as one blob whose hash is in the event. */
export const Body = Schema.Struct({ html: Schema.NullOr(Schema.String), text: Schema.NullOr(Schema.String) })
export type Body = typeof Body.Type

export const blob = (bytes: Uint8Array): Blob => ({
  sha256: hash("sha256", bytes, "hex") as Sha256,
  bytes,
})

/** Encodes equal bodies as equal bytes, so that they are stored once. */
export const encodeBody = ({ html, text }: Body): Blob => blob(Buffer.from(JSON.stringify({ html, text })))

const decodeBody = Schema.decodeUnknownSync(Schema.fromJsonString(Body))

export interface AttachmentContent extends Domain.Attachment {
  readonly bytes: Uint8Array
}
export interface CompleteContent extends Body {
  readonly attachments: ReadonlyArray<AttachmentContent>
}

/** Finds bytes by hash. Expired content is missing from the result. */
export const findAll = Effect.fn("Content.findAll")(function* (account_id: string, hashes: ReadonlyArray<string>) {
  const sql = yield* Sql
  const rows = yield* sql<StoredContent.StoredBytes & { readonly sha256: string }>`
    SELECT encode(sha256, 'hex') AS sha256, bytes, compressed FROM content
    WHERE account_id = ${account_id} AND sha256 = ANY(${StoredContent.hashes([...new Set(hashes)])})`
  return new Map(rows.map((row) => [row.sha256, StoredContent.decode(row)]))
})

/** Finds only the body, for answers that show a message. */
export const findBody = Effect.fn("Content.findBody")(function* (account_id: string, content: Domain.Content) {
  const blobs = yield* findAll(account_id, [content.sha256])
  return Option.map(Option.fromUndefinedOr(blobs.get(content.sha256)), asBody)
})

/** Finds all content of a message, or none if any part of it expired: an incomplete message is never sent. */
export const findComplete = Effect.fn("Content.findComplete")(function* (account_id: string, content: Domain.Content) {
  const blobs = yield* findAll(account_id, [content.sha256, ...content.attachments.map(({ sha256 }) => sha256)])
  const text = blobs.get(content.sha256)
  yield* Turn.afterLarge(text?.length ?? 0)
  const attachments: Array<AttachmentContent> = []
  for (const attachment of content.attachments) {
    const bytes = blobs.get(attachment.sha256)
    if (bytes === undefined) return Option.none<CompleteContent>()
    attachments.push({ ...attachment, bytes })
  }
  return text === undefined
    ? Option.none<CompleteContent>()
    : Option.some<CompleteContent>({ ...asBody(text), attachments })
})

export const asBody = (bytes: Uint8Array): Body => decodeBody(Buffer.from(bytes).toString("utf8"))

/**
 * Removes expired content, except that of messages still to be delivered: an account may retain content for zero days,
 * and mail may be scheduled later than its content expires. Runs periodically.
 */
export const expire = Effect.fn("Content.expire")(function* () {
  const sql = yield* Sql
  let removed = 0
  let last: Candidate | undefined = FIRST
  while (last !== undefined) {
    const candidates: ReadonlyArray<Candidate> = yield* expireAfter(sql, last)
    removed += candidates.filter(({ is_removed }) => is_removed).length
    last = candidates.length < EXPIRY_BATCH ? undefined : candidates.at(-1)
  }
  return removed
})

interface Candidate {
  readonly expires_on: string
  readonly account_id: string
  readonly sha256: string
  readonly is_removed: boolean
}
const FIRST: Candidate = { expires_on: "-infinity", account_id: "", sha256: "", is_removed: false }

const expireAfter = (sql: Sql, last: Candidate) => sql<Candidate>`
  WITH old AS MATERIALIZED (
    SELECT expires_on, account_id, sha256 FROM content
    WHERE expires_on < ((now() - ${EXPIRY_GRACE}::interval) AT TIME ZONE 'UTC')::date
      AND (expires_on, account_id, sha256) > (${last.expires_on}::date, ${last.account_id}, decode(${last.sha256}, 'hex'))
    ORDER BY expires_on, account_id, sha256 LIMIT ${EXPIRY_BATCH}::int FOR UPDATE
  ), needed AS MATERIALIZED (${neededContent(sql, sql`(SELECT account_id FROM old)`)}
  ), removed AS (
    DELETE FROM content c USING old
    WHERE c.account_id = old.account_id AND c.sha256 = old.sha256
      AND NOT EXISTS (SELECT 1 FROM needed n WHERE n.account_id = old.account_id AND n.sha256 = old.sha256)
    RETURNING c.account_id, c.sha256
  )
  SELECT old.expires_on::text, old.account_id, encode(old.sha256, 'hex') AS sha256, removed.sha256 IS NOT NULL AS is_removed
  FROM old LEFT JOIN removed USING (account_id, sha256)
  ORDER BY old.expires_on, old.account_id, old.sha256`
