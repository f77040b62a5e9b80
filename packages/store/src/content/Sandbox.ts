import * as Livemode from "@waybill/domain/account/Livemode"
import type { EmailId } from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import * as MonotonicClock from "@waybill/runtime/flow/MonotonicClock"
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Option } from "effect"
import * as PackedSql from "../packed/PackedSql.ts"
import * as Iso from "../postgres/Iso.ts"
import * as Content from "./Content.ts"
import * as AccountWrites from "../locks/AccountWrites.ts"
import { Sql } from "../postgres/Sql.ts"

/** Days that mail of an instance without a transport stays in the sandbox. */
export const DAYS = 7
/** Days that test mail stays in the sandbox, as long as its content. */
export const TEST_DAYS = Content.TEST_CONTENT_DAYS
/** Interval at which `wait` queries. */
export const POLL_EVERY = Duration.millis(100)
export const MAX_WAIT = Duration.seconds(60)
/** Rows that one statement of the expiry removes. */
export const EXPIRY_BATCH = 1_000

interface SandboxMail {
  readonly message: {
    readonly emailId: string
    readonly owner: { readonly account_id: string }
    readonly subject: string
    readonly mailFrom: string
    readonly bytes: Uint8Array
  }
  readonly recipients: ReadonlyArray<string>
}

/**
 * Stores mail of the sandbox. A further attempt at the same message adds its recipients to the stored mail.
 */
export const recorder = Effect.map(Sql, (sql) =>
  Effect.fn("Sandbox.keep")(function* ({ message, recipients }: SandboxMail) {
    const { account_id } = message.owner
    const days = Livemode.isLive(account_id) ? DAYS : TEST_DAYS
    const inserting = sql`
      INSERT INTO sandbox_messages (account_id, id, recipients, subject, mail_from, size_bytes, bytes, expires_at)
      VALUES (${account_id}, ${message.emailId}, ${recipients}::text[], ${message.subject}, ${message.mailFrom},
        ${message.bytes.length}::int, ${message.bytes}, now() + make_interval(days => ${days}::int))
      ON CONFLICT (account_id, id) DO NOTHING RETURNING id`
    const addingRecipients = sql`
      UPDATE sandbox_messages m SET recipients = m.recipients ||
        ARRAY(SELECT r FROM unnest(${recipients}::text[]) AS r WHERE r <> ALL(m.recipients))
      WHERE m.account_id = ${account_id} AND m.id = ${message.emailId}`
    const keeping = Effect.flatMap(inserting, ({ length }) =>
      length > 0 ? Effect.void : Effect.asVoid(addingRecipients),
    )
    yield* AccountWrites.run(account_id, keeping).pipe(Effect.provideService(PgClient.PgClient, sql.driver))
    // A transport has no error for it: the row of the mail is left to its lease, as after a bug.
  }, Effect.orDie),
)

export interface SandboxRecord {
  readonly object: "sandbox_message"
  /** Id of the email. */
  readonly id: EmailId
  readonly recipients: ReadonlyArray<string>
  readonly subject: string
  readonly mail_from: string
  readonly size_bytes: number
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
}

export interface Query {
  readonly account_id: string
  /** Only mail from this domain; `null` or undefined for all. */
  readonly domain?: string | null
  readonly limit: number
  /** Id of the last message of the previous page. Ids sort by time, newest first. */
  readonly after?: string
  /** Only mail to this address. */
  readonly to?: string
  /** Only these messages. */
  readonly ids?: ReadonlyArray<string>
}

export const list = Effect.fn("Sandbox.list")(function* (query: Query) {
  const sql = yield* Sql
  return yield* sql<SandboxRecord>`
    SELECT ${columns(sql)} FROM sandbox_messages
    WHERE account_id = ${query.account_id} ${ofDomain(sql, query.domain)}
      ${query.after === undefined ? sql.literal("") : sql`AND id < ${query.after}`}
      ${query.ids === undefined ? sql.literal("") : sql`AND id = ANY(${query.ids}::text[])`}
      ${
        query.to === undefined
          ? sql.literal("")
          : sql`AND EXISTS (SELECT FROM unnest(recipients) AS r WHERE lower(r) = ${query.to.toLowerCase()})`
      }
    ORDER BY id DESC LIMIT ${query.limit}::int`
})

export interface SandboxMessage extends SandboxRecord {
  readonly bytes: Uint8Array
}

/** Bytes of a message that one statement reads. The driver decodes them synchronously, in about 20 ms. */
export const SLICE_BYTES = 4 * 1024 * 1024

export const find = Effect.fn("Sandbox.find")(function* (account_id: string, id: string, domain?: string | null) {
  const sql = yield* Sql
  const slice = (from: number) => sql`substring(bytes FROM ${from + 1}::int FOR ${SLICE_BYTES}::int) AS bytes`
  const ofMail = sql`FROM sandbox_messages WHERE account_id = ${account_id} AND id = ${id} ${ofDomain(sql, domain)}`
  const [first] = yield* sql<SandboxMessage>`SELECT ${columns(sql)}, ${slice(0)} ${ofMail}`
  if (first === undefined) return Option.none()
  const slices = [first.bytes]
  for (let from = SLICE_BYTES; from < first.size_bytes; from += SLICE_BYTES) {
    const [next] = yield* sql<Pick<SandboxMessage, "bytes">>`SELECT ${slice(from)} ${ofMail}`
    if (next === undefined) return Option.none()
    slices.push(next.bytes)
  }
  return Option.some<SandboxMessage>(slices.length === 1 ? first : { ...first, bytes: Buffer.concat(slices) })
})

/** Removes one message or all, and returns how many. */
export const remove = Effect.fn("Sandbox.remove")(function* (account_id: string, id?: string, domain?: string | null) {
  const sql = yield* Sql
  const removal = sql`
    DELETE FROM sandbox_messages WHERE account_id = ${account_id} ${ofDomain(sql, domain)}
      ${id === undefined ? sql.literal("") : sql`AND id = ${id}`} RETURNING id`
  return (yield* AccountWrites.run(account_id, removal)).length
})

/** Returns the list as soon as it is not empty, or an empty one after the time limit. */
export const wait = Effect.fn("Sandbox.wait")(function* (query: Query, within: Duration.Duration) {
  const until = (yield* MonotonicClock.millis) + Duration.toMillis(Duration.min(within, MAX_WAIT))
  while (true) {
    const messages = yield* list(query)
    if (messages.length > 0 || (yield* MonotonicClock.millis) >= until) return messages
    yield* Effect.sleep(POLL_EVERY)
  }
})

/** Removes expired mail and returns how many. Runs periodically. */
export const expire = Effect.fn("Sandbox.expire")(function* () {
  const sql = yield* Sql
  let removed = 0
  for (let done = -1; done !== 0; removed += done) {
    done = (yield* sql`
      DELETE FROM sandbox_messages WHERE (account_id, id) IN (
        SELECT account_id, id FROM sandbox_messages WHERE expires_at < now() LIMIT ${EXPIRY_BATCH}::int) RETURNING id`)
      .length
  }
  return removed
})

/** Filters by the sender's domain, which is in the first event of the message. */
const ofDomain = (sql: Sql, domain: string | null | undefined) =>
  domain === undefined || domain === null
    ? sql.literal("")
    : sql`AND EXISTS (SELECT FROM events AS e
        WHERE e.account_id = sandbox_messages.account_id AND e.stream_id = sandbox_messages.id AND e.version = 1
          AND ${PackedSql.field(sql, "e", "EmailQueued", "domain")} = ${domain})`

const columns = (sql: Sql) => sql`
  'sandbox_message' AS object, id, recipients, subject, mail_from, size_bytes,
  ${Iso.iso(sql, "created_at")} AS created_at, ${Iso.iso(sql, "expires_at")} AS expires_at`
