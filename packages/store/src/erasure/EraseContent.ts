import type * as Address from "@waybill/domain/values/Address"
import * as Email from "@waybill/domain/email/Email"
import * as Inbound from "@waybill/domain/inbound/Inbound"
import type { AccountId } from "@waybill/domain/values/Id"
import { Effect, Option } from "effect"
import type { AffectedStream, StreamOfAccount } from "./AffectedStreams.ts"
import * as Mask from "./Mask.ts"
import { type ScannedRow, scan } from "./scan.ts"
import * as AccountLocks from "../locks/AccountLocks.ts"
import { neededContent } from "../content/neededContent.ts"
import * as InboundContent from "../content/InboundContent.ts"
import * as StoredContent from "../content/StoredContent.ts"
import * as UnreadReports from "../content/UnreadReports.ts"
import * as RequestRecipients from "../requests/RequestRecipients.ts"
import * as PackedSql from "../packed/PackedSql.ts"
import type { Sql } from "../postgres/Sql.ts"
import type { StoreUnavailable } from "../postgres/StoreUnavailable.ts"

/**
 * Removes content that belongs to the address. Bodies and attachments of messages to the address are removed unless
 * others got the same. Any other content that names or may name the address is removed too, whoever sent it: it is
 * identified by its hash, so it cannot be masked. Content of mail in progress stays. Unread reports are removed if
 * their message names the address or if they contain it, and so is received mail, unless its forwards are `awaited`.
 * Returns what names the address and cannot be removed yet.
 */
export const erase = Effect.fnUntraced(function* (
  sql: Sql,
  address: Address.Address,
  mask: Mask.Mask,
  streams: ReadonlyArray<AffectedStream>,
  awaited: ReadonlySet<string>,
) {
  yield* byAccount(
    streams.filter(({ isRecipient }) => isRecipient),
    (account_id, messages) =>
      Effect.flatMap(notSentToOthers(sql, account_id, messages), (hashes) => remove(sql, account_id, hashes)),
  )
  const ofKind = (kind: string) => streams.filter(({ stream }) => stream === kind)
  yield* byAccount(ofKind(Email.stream), (account_id, ids) => UnreadReports.removeOf(sql, account_id, ids))
  yield* byAccount(ofKind(Inbound.stream), (account_id, ids) => InboundContent.removeOf(sql, account_id, ids))
  const textLooksLike = (text: string) =>
    sql`lower((${sql.literal(text)}) COLLATE "C") LIKE ANY(${Mask.patterns(address)}::text[])`
  const looksLike = (column: string) => textLooksLike(`encode(${column}, 'escape')`)
  const names = (value: unknown) => mask.contains(value) || mask.mayContain(value)

  const remaining: Array<StreamOfAccount> = []
  yield* scan(sql, CONTENT, sql`t.compressed OR ${looksLike("t.bytes")}`, (row: ContentRow) =>
    Effect.gen(function* () {
      const { account_id } = row
      const sha256 = Buffer.from(row.sha256).toString("hex")
      if (!names(parse(StoredContent.decode(row)))) return
      if ((yield* remove(sql, account_id, [sha256])) === 0)
        remaining.push({ account_id, stream: "content", stream_id: sha256 })
    }),
  )
  // Mail of the sandbox is encoded in ways that SQL cannot search, and there is little of it.
  yield* scan(sql, SANDBOX_MAIL, sql`true`, ({ account_id, bytes, id, mail_from, recipients, subject }: SandboxRow) =>
    names([recipients, subject, mail_from, ...decodings(bytes)])
      ? sql`DELETE FROM sandbox_messages WHERE account_id = ${account_id} AND id = ${id}`
      : Effect.void,
  )
  yield* scan(
    sql,
    { name: "inbound_content", others: ["size_bytes"] },
    sql`strpos(t.id, '/') = 0`,
    ({ account_id, bytes, id, size_bytes }: ReceivedRow) =>
      Effect.gen(function* () {
        const whole =
          size_bytes === bytes.length ? Option.some(bytes) : yield* InboundContent.findOf(sql, account_id, id)
        if (!Option.exists(whole, (mail) => names(decodings(mail)))) return
        if (awaited.has(id)) remaining.push({ account_id, stream: Inbound.stream, stream_id: id })
        else yield* InboundContent.removeOf(sql, account_id, [id])
      }),
  )
  yield* scan(sql, { name: "unread_reports" }, sql`true`, ({ account_id, bytes, id }: MailRow) =>
    names(decodings(bytes))
      ? sql`DELETE FROM unread_reports WHERE account_id = ${account_id} AND id = ${id}`
      : Effect.void,
  )
  // The idempotency key stays effective. Answers that show a secret are sealed, and name nobody.
  yield* scan(sql, ANSWERS, looksLike("t.answer"), ({ account_id, bytes, key, route }: AnswerRow) => {
    const answer = parse(bytes)
    return mask.contains(answer)
      ? sql`
          UPDATE idempotency_keys SET answer = ${Buffer.from(JSON.stringify(mask.apply(answer)))}
          WHERE account_id = ${account_id} AND route = ${route} AND key = ${key}`
      : Effect.void
  })
  // The body is removed as a whole, because the name beside the address is the person's too.
  const requests = sql`${textLooksLike("t.path || ' ' || t.query || ' ' || t.body")}
    OR t.recipients IS NOT NULL AND ${RequestRecipients.isOne(sql, "t", address)}`
  yield* scan(sql, REQUESTS, requests, ({ account_id, answer, bytes, id, path, query }: RequestRow) => {
    const [row, key] = [sql`account_id = ${account_id} AND id = ${id}`, RequestRecipients.keyOf(account_id, address)]
    const forget = sql`
      UPDATE request_log SET recipients = array_remove(recipients, ${key}::bigint)
      WHERE ${row} AND recipients @> ARRAY[${key}::bigint]`
    if (!names([path, query, answer, bytes])) return forget
    const clear = sql`
      UPDATE request_log SET path = ${mask.mayContain(path) ? "" : mask.apply(path)}, query = '', body = '', answer = ''
      WHERE ${row}`
    return Effect.andThen(forget, clear)
  })
  return remaining
})

const byAccount = (
  streams: ReadonlyArray<StreamOfAccount>,
  work: (account_id: AccountId, ids: ReadonlyArray<string>) => Effect.Effect<unknown, StoreUnavailable>,
) =>
  Effect.forEach(
    Map.groupBy(streams, ({ account_id }) => account_id),
    ([account_id, own]) =>
      work(
        account_id,
        own.map(({ stream_id }) => stream_id),
      ),
    { discard: true },
  )

/**
 * Returns the hashes that only these messages of the account use. Reads all of its messages, which may exceed the
 * statement timeout.
 */
const notSentToOthers = Effect.fnUntraced(function* (sql: Sql, account_id: string, messages: ReadonlyArray<string>) {
  const used = sql<{ readonly sha256: string }>`
    SELECT part.sha256
    FROM events e CROSS JOIN LATERAL ${PackedSql.contentHashes(sql, "e")} AS part(sha256)
    WHERE e.account_id = ${account_id} AND e.type = 'EmailQueued'
    GROUP BY part.sha256 HAVING bool_and(e.stream_id = ANY(${messages}::text[]))`
  const rows = yield* sql.withTransaction(Effect.andThen(sql`SET LOCAL statement_timeout = 0`, used))
  return rows.map(({ sha256 }) => sha256)
})

/**
 * Removes content and returns how many rows. The account's lock keeps mail from being accepted meanwhile, which might
 * rely on existing content.
 */
const remove = Effect.fnUntraced(function* (sql: Sql, account_id: string, hashes: ReadonlyArray<string>) {
  if (hashes.length === 0) return 0
  const lockAccount = sql`
    SELECT 1 AS taken FROM (SELECT pg_advisory_xact_lock(${AccountLocks.ACCOUNT_LOCKS}::int, hashtext(${account_id}))::text) AS t, event_position`
  const removal = sql`
    WITH needed AS MATERIALIZED (${neededContent(sql, sql`(${account_id})`)})
    DELETE FROM content c WHERE c.account_id = ${account_id} AND c.sha256 = ANY(${StoredContent.hashes(hashes)})
      AND NOT EXISTS (SELECT 1 FROM needed n WHERE n.sha256 = c.sha256)
    RETURNING c.sha256`
  return (yield* sql.withTransaction(Effect.andThen(lockAccount, removal))).length
})

interface ContentRow extends ScannedRow, StoredContent.StoredBytes {
  readonly bytes: Uint8Array
  readonly sha256: Uint8Array
}
interface MailRow extends ScannedRow {
  readonly id: string
}
interface SandboxRow extends MailRow {
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  readonly mail_from: string
}
interface ReceivedRow extends MailRow {
  readonly size_bytes: number
}
interface RequestRow extends ScannedRow<string> {
  readonly id: string
  readonly path: string
  readonly query: string
  readonly answer: string
}
interface AnswerRow extends ScannedRow {
  readonly route: string
  readonly key: string
}
const CONTENT = {
  name: "content",
  key: ["account_id", "sha256"],
  first: ["", new Uint8Array(0)],
  others: ["compressed"],
}
const SANDBOX_MAIL = { name: "sandbox_messages", others: ["recipients", "subject", "mail_from"] }
const REQUESTS = { name: "request_log", bytes: "body", others: ["path", "query", "answer"] }
const ANSWERS = { name: "idempotency_keys", key: ["account_id", "route", "key"], bytes: "answer" }

/** Parses JSON (a body, or an answer); any other text is returned as it is. */
const parse = (bytes: Uint8Array): unknown => {
  const text = Buffer.from(bytes).toString("utf8")
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const SOFT_BREAK = /=\r?\n/gu
const OCTET = /=([0-9a-f]{2})/giu
const BASE64 = /^[a-z0-9+/]{4,76}={0,2}$/iu

/** Returns a message as it is, and decoded as quoted-printable and as base64, whatever encoding its parts declare. */
const decodings = (mail: Uint8Array): ReadonlyArray<string> => {
  const plain = Buffer.from(mail).toString("latin1")
  const quoted = plain
    .replaceAll(SOFT_BREAK, "")
    .replaceAll(OCTET, (_, octet: string) => String.fromCharCode(Number.parseInt(octet, 16)))
  return [
    Buffer.from(mail).toString("utf8"),
    Buffer.from(quoted, "latin1").toString("utf8"),
    ...base64Runs(plain).map((run) => Buffer.from(run, "base64").toString("utf8")),
  ]
}

/**
 * Returns runs of consecutive lines that may be base64. Splits lines first, because one regular expression over a large
 * message is too expensive.
 */
const base64Runs = (mail: string): ReadonlyArray<string> => {
  const lineRuns: Array<Array<string>> = [[]]
  for (const line of mail.split(/\r?\n/u)) {
    if (BASE64.test(line)) lineRuns.at(-1)?.push(line)
    else if (lineRuns.at(-1)?.length !== 0) lineRuns.push([])
  }
  return lineRuns.map((lines) => lines.join(""))
}
