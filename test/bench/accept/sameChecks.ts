// Baseline (d): commits all waiting requests together, as (b) does, writes the rows that Waybill writes, and makes the checks
// that the contract demands of every send. The API's schema decodes the request, and the domain's rules decide about it, with
// its domain, its suppressions, its account and the month's volume, which stay locked until it is committed. It stores no
// answers for idempotency keys and logs no requests. The difference to Waybill is what Effect and the rest cost.
import "effect/schema/SchemaJITCompiler/enable"
import { EmailMessage } from "@waybill/api/schemas/EmailMessage"
import * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Address from "@waybill/domain/values/Address"
import type * as Id from "@waybill/domain/values/Id"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Option, Result, Schema } from "effect"
import type pg from "pg"
import { connected } from "../byHand/connected.ts"
import { inBatches } from "../byHand/inBatches.ts"
import { messageOf, type Request } from "../byHand/request.ts"
import * as Rows from "../byHand/Rows.ts"
import { type ParsedRequest, serve, type Verdict } from "./floor.ts"
import { admission } from "./statements.ts"

const MOST = 100
/** Batches at once, and requests from which the second one starts. One batch at a time is slower on cores that are free. */
const AT_ONCE = 2
const LEAST = 16

/** Admits, locks and announces as Waybill does, and reads what decides about each message. */
const READ = {
  name: "read",
  text: `WITH ${admission("$1", "$2")}, locked AS MATERIALIZED (
      SELECT count(taken) AS locks FROM (
        SELECT pg_advisory_xact_lock_shared(1, lock)::text AS taken
        FROM (SELECT DISTINCT hashtext(account_id) AS lock FROM key ORDER BY 1) AS locks
      ) AS taking
    ), announced AS MATERIALIZED (
      SELECT pg_advisory_xact_lock_shared(last_value)::text AS announced FROM event_position, locked WHERE locks >= 0
    ), used AS (
      INSERT INTO monthly_usage AS u (account_id, month, accepted)
      SELECT DISTINCT account_id, to_char(now(), 'YYYY-MM'), 0 FROM key, announced ORDER BY 1
      ON CONFLICT (account_id, month) DO UPDATE SET accepted = u.accepted RETURNING account_id, accepted
    )
    SELECT key.account_id, md5(key.account_id) AS account_key, key.id AS key_id, allowed, counted.count, used.accepted,
      a.record -> 'limits' ->> 'monthly_emails' AS monthly_emails, d.id AS domain_id, d.status, s.reason, webhooks
    FROM unnest($3::text[], $4::text[], $5::text[]) WITH ORDINALITY AS message(hash, domain, address, nth)
    JOIN key USING (hash) JOIN counted ON bucket = key.id || '/send' JOIN used USING (account_id)
    JOIN accounts a USING (account_id)
    LEFT JOIN domains d ON d.account_id = key.account_id AND d.name = message.domain AND NOT d.removed
    LEFT JOIN suppressions s ON s.account_id = key.account_id AND s.address = message.address AND s.active
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS webhooks FROM webhooks w WHERE w.account_id = key.account_id AND enabled AND NOT removed
    ) AS subscribed
    ORDER BY nth`,
}

const WRITE = {
  name: "write",
  text: Rows.inserting(
    `new AS MATERIALIZED (
      SELECT * FROM unnest($1::text[], $2::uuid[], ${Rows.parametersFrom(3)}) AS row(account_id, account_key, ${Rows.COLUMNS})
    )`,
    "SELECT id FROM graphile_worker.add_job('drain_deliveries')",
  ),
}

/** What is known about a message when it is decided. */
interface Facts {
  readonly account_id: Id.AccountId
  readonly account_key: string
  readonly key_id: Id.ApiKeyId
  readonly allowed: number
  readonly count: number
  readonly accepted: string
  readonly monthly_emails: string | null
  readonly domain_id: Id.DomainId | null
  readonly status: "verified" | null
  readonly reason: "manual" | null
}

interface Waiting {
  readonly hash: string
  readonly command: Acceptance.Command
  readonly row: Rows.Accepted
  readonly resolve: (verdict: Verdict) => void
  readonly reject: (cause: unknown) => void
}

const decode = Schema.decodeUnknownOption(Schema.toCodecJson(EmailMessage))
const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => connected(process.env["DATABASE_URL"] ?? "")))

const addressOf = ({ command: { to } }: Waiting): string => Address.keyOf(to[0]?.address ?? ("" as Address.Address))

const read = async (client: pg.Client, batch: ReadonlyArray<Waiting>): Promise<ReadonlyArray<Facts>> => {
  const requests = new Map<string, number>()
  for (const { hash } of batch) requests.set(hash, (requests.get(hash) ?? 0) + 1)
  const { rows } = await client.query<Facts>({
    ...READ,
    values: [
      [...requests.keys()],
      [...requests.values()],
      batch.map(({ hash }) => hash),
      batch.map(({ command }) => Address.domainOf(command.from.address)),
      batch.map(addressOf),
    ],
  })
  if (rows.length < batch.length) throw new Error("a request had no valid key")
  return rows
}

/** Whether the rules accept a message. `before` are messages of the batch that count before it. */
const isAccepted = (facts: Facts, waiting: Waiting, before: number): boolean => {
  const { command, row } = waiting
  const name = Address.domainOf(command.from.address)
  const emailId = row.message.id as Id.EmailId
  const { accepted, allowed, count, domain_id, key_id, monthly_emails, reason, status } = facts
  if (count > allowed || domain_id === null || status === null) return false
  const decided = Acceptance.accept(
    {
      now: row.message.createdAt as Timestamp,
      emailId,
      mode: "live",
      messageId: Acceptance.messageIdOf(emailId, name),
      domain: { id: domain_id, status, tracking: undefined },
      tracks: false,
      key: { id: key_id, domain: null },
      plan: { name: "Business", max_recipients: 100 },
      suppressed: new Map(reason === null ? [] : [[addressOf(waiting), reason]]),
      unsent: { bytes: 0, limit: Infinity },
      quota: { used: Number(accepted) + before, limit: monthly_emails === null ? null : Number(monthly_emails) },
    },
    command,
  )
  return Result.isSuccess(decided)
}

const commit = async (client: pg.Client, batch: ReadonlyArray<Waiting>): Promise<ReadonlyArray<boolean>> => {
  await client.query("BEGIN")
  const facts = await read(client, batch)
  const verdicts = batch.map((waiting, nth) => isAccepted(facts[nth] as Facts, waiting, nth))
  const accepted = batch.filter((_, nth) => verdicts[nth])
  const owners = facts.filter((_, nth) => verdicts[nth])
  const [ids, keys] = [owners.map(({ account_id }) => account_id), owners.map(({ account_key }) => account_key)]
  const columns = Rows.columnsOf(accepted.map(({ row }) => row))
  await client.query({ ...WRITE, values: [...Rows.ownersOf(ids, keys), ...columns] })
  await client.query("COMMIT")
  return verdicts
}

const accept = inBatches<Waiting>({ most: MOST, atOnce: AT_ONCE, least: LEAST }, async (batch) => {
  const client = clients.pop()
  if (client === undefined) throw new Error("more batches than connections")
  try {
    const verdicts = await commit(client, batch)
    for (const [nth, { resolve }] of batch.entries()) resolve(verdicts[nth] === true ? "queued" : "rate_limited")
  } catch (cause) {
    await client.query("ROLLBACK")
    for (const { reject } of batch) reject(cause)
  }
  clients.push(client)
})

const commandOf = (message: EmailMessage, { hash }: Rows.Accepted): Acceptance.Command => ({
  ...message,
  headers: message.headers ?? {},
  reply_tracking: message.reply_tracking ?? undefined,
  test_clock: undefined,
  script: undefined,
  tags: [...new Set(message.tags)],
  metadata: message.metadata ?? undefined,
  content: {
    sha256: hash.toString("hex") as Acceptance.Command["content"]["sha256"],
    has_html: message.html !== null,
    has_text: message.text !== null,
    attachments: [],
  },
  size_bytes: 0,
  list_unsubscribe: message.list_unsubscribe ?? false,
  accept_suppressed: message.accept_suppressed ?? false,
  tracking: message.tracking ?? undefined,
  resend_of: null,
})

const take = ({ body, hash, id }: ParsedRequest): Promise<Verdict> => {
  const decoded = decode(body)
  if (Option.isNone(decoded)) return Promise.reject(new Error("not a message"))
  const [message, tags] = messageOf(body as Request)
  const row = Rows.accepted({ ...message, id }, tags)
  const command = commandOf(decoded.value, row)
  return new Promise((resolve, reject) => accept({ hash, command, row, resolve, reject }))
}

serve(() => take, Rows.newId)
