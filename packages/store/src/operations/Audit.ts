import { Effect } from "effect"
import * as AuditChanges from "./AuditChanges.ts"
import * as Iso from "../postgres/Iso.ts"
import { Sql } from "../postgres/Sql.ts"
import { HomeSql } from "../routing/HomeSql.ts"

/** Entries that one statement of a filtered list reads, and the maximum that one page examines. */
export const CHUNK = 500
export const MAX_EXAMINED = 5_000

export interface Query {
  readonly account_id: string
  readonly limit: number
  /** Only entries before this position. */
  readonly before?: bigint
  /** Whether an entry is listed. */
  readonly matches?: (entry: NamedEntry) => boolean
}

export interface NamedEntry extends AuditChanges.Audited {
  /** Name of the key or the member who acted. */
  readonly actor_name: string | null
  /** Name of the object that was changed. */
  readonly target_name: string | null
}

/** An entry as it is listed. */
export interface Listed extends NamedEntry {
  readonly changes: ReadonlyArray<AuditChanges.Change>
}

export interface Page<E = Listed> {
  readonly entries: ReadonlyArray<E>
  /** Position to continue before; null if there are no more. */
  readonly next: bigint | null
}

/**
 * Lists changes by keys, users and operators, newest first. Mail is excluded, because its log shows it, and so is what
 * the service does by itself, except that it disables webhooks, which then miss events. A page of a rare filter ends early, with a position to continue from.
 */
export const list = Effect.fn("Audit.list")(function* (query: Query) {
  const sql = yield* Sql
  const { entries, next } = yield* read(sql, yield* HomeSql, query)
  const changes = yield* AuditChanges.of(sql, query.account_id, entries)
  return { next, entries: entries.map((entry): Listed => ({ ...entry, changes: changes.get(entry.event_id) ?? [] })) }
})

const read = Effect.fnUntraced(function* (sql: Sql, home: Sql, { account_id, limit, matches, ...query }: Query) {
  const entries: Array<NamedEntry> = []
  const chunk = matches === undefined ? limit + 1 : CHUNK
  let { before } = query
  for (let examined = 0; examined < MAX_EXAMINED; examined += chunk) {
    const range = { account_id, limit: chunk, ...(before === undefined ? {} : { before }) }
    const rows = newest(chunk, yield* statement(sql, range), yield* disablings(sql, range))
    const named = yield* withNames(sql, home, account_id, rows)
    entries.push(...(matches === undefined ? named : named.filter(matches)))
    if (entries.length > limit) return { entries: entries.slice(0, limit), next: entries[limit - 1]?.position ?? null }
    if (rows.length < chunk) return { entries, next: null }
    before = rows.at(-1)?.position
  }
  return { entries, next: before ?? null }
})

const newest = (
  limit: number,
  ...lists: ReadonlyArray<ReadonlyArray<AuditChanges.Audited>>
): ReadonlyArray<AuditChanges.Audited> =>
  lists
    .flat()
    .toSorted((one, other) => (one.position < other.position ? 1 : -1))
    .slice(0, limit)

/** Webhooks that the service has disabled. Reads the streams of the account's webhooks, which are short. */
const disablings = (sql: Sql, { account_id, before, limit }: Omit<Query, "matches">) => sql<AuditChanges.Audited>`
  SELECT e.position, e.event_id, e.stream, e.stream_id, e.version, e.type, e.data, e.meta,
    ${Iso.iso(sql, "e.recorded_at")} AS recorded_at
  FROM webhooks w JOIN events e ON e.account_id = w.account_id AND e.stream_id = w.id
  WHERE w.account_id = ${account_id} AND e.type = 'WebhookDisabled' AND e.meta -> 'actor' ->> 'type' = 'system'
    ${before === undefined ? sql.literal("") : sql`AND e.position < ${before}::bigint`}
  ORDER BY e.position DESC LIMIT ${limit}::int`

/** Events of mail that a test made, which the log of mail shows. */
const OF_MAIL = ["EmailReceived", "RouteApplied", "InboundReplied", "InboundForwarded"]

/** The first conditions are exactly those of the index `events_audit`. */
export const statement = (sql: Sql, { account_id, before, limit }: Omit<Query, "matches">) => sql<AuditChanges.Audited>`
  SELECT position, event_id, stream, stream_id, version, type, data, meta, ${Iso.iso(sql, "recorded_at")} AS recorded_at
  FROM events
  WHERE account_id = ${account_id} AND stream <> 'email' AND meta -> 'actor' ->> 'type' <> 'system'
    AND type <> ALL(${OF_MAIL}::text[])
    ${before === undefined ? sql.literal("") : sql`AND position < ${before}::bigint`}
  ORDER BY position DESC LIMIT ${limit}::int`

/** Returns the id of the object that an entry is about; the stream of a team has the members' changes. */
const targetOf = ({ data, stream, stream_id }: AuditChanges.Audited): string =>
  stream === "team" && typeof data["user_id"] === "string" ? data["user_id"] : stream_id

const withNames = Effect.fnUntraced(function* (
  sql: Sql,
  home: Sql,
  account_id: string,
  entries: ReadonlyArray<AuditChanges.Audited>,
) {
  const ids = [...new Set(entries.flatMap((entry) => [entry.meta.actor.id ?? "", targetOf(entry)]))]
  const rows = entries.length === 0 ? [] : yield* names(sql, account_id, ids)
  const users = rows.length === 0 ? [] : yield* userNames(home, ids)
  const nameOf = new Map(
    [...rows, ...users.filter(({ id }) => rows.some((row) => row.id === id))].map(({ id, name }) => [id, name]),
  )
  return entries.map((entry) => ({
    ...entry,
    actor_name: entry.meta.actor.type === "operator" ? null : (nameOf.get(entry.meta.actor.id ?? "") ?? null),
    target_name: entry.stream === "suppression" ? entry.stream_id : (nameOf.get(targetOf(entry)) ?? null),
  }))
})

/**
 * Names of keys, domains, webhooks, templates, routes and members, deleted ones too. A webhook has the URL of its creation
 * then. A route is named by the recipients that it matches.
 */
const names = (sql: Sql, account_id: string, ids: ReadonlyArray<string>) => sql<{
  readonly id: string
  readonly name: string
}>`
  SELECT id, record ->> 'name' AS name FROM api_keys WHERE account_id = ${account_id} AND id = ANY(${ids}::text[])
  UNION ALL SELECT id, name FROM domains WHERE account_id = ${account_id} AND id = ANY(${ids}::text[])
  UNION ALL SELECT w.id, coalesce(w.record ->> 'url', created.data ->> 'url')
    FROM webhooks w JOIN events created
      ON created.account_id = w.account_id AND created.stream_id = w.id AND created.version = 1
    WHERE w.account_id = ${account_id} AND w.id = ANY(${ids}::text[])
  UNION ALL SELECT id, record ->> 'name' FROM templates
    WHERE account_id = ${account_id} AND id = ANY(${ids}::text[])
  UNION ALL SELECT r.id, coalesce(r.record -> 'match' ->> 'to', created.data -> 'match' ->> 'to', '*')
    FROM inbound_routes r JOIN events created
      ON created.account_id = r.account_id AND created.stream_id = r.id AND created.version = 1
    WHERE r.account_id = ${account_id} AND r.id = ANY(${ids}::text[])
  UNION ALL SELECT m.user_id, coalesce(m.record ->> 'name', m.email) FROM members m
    WHERE m.account_id = ${account_id} AND m.user_id = ANY(${ids}::text[])`

/** Names that users have given themselves, which are at home. */
const userNames = Effect.fnUntraced(function* (home: Sql, ids: ReadonlyArray<string>) {
  return yield* home<{ readonly id: string; readonly name: string }>`
    SELECT id, name FROM users WHERE id = ANY(${ids}::text[]) AND name <> ''`
})
