import type * as Email from "@waybill/domain/email/Email"
import type * as Inbound from "@waybill/domain/inbound/Inbound"
import type { DomainEvent } from "@waybill/domain/stream/DomainEvent"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import * as Table from "@waybill/domain/values/Table"
import { Effect } from "effect"
import type { Stored } from "../log/RecordedEvents.ts"
import * as Arrays from "../postgres/Arrays.ts"
import type { Sql } from "../postgres/Sql.ts"

/** An event of the audit log. */
export type Audited = Omit<Stored, "account_id" | "recorded_at"> & { readonly recorded_at: Timestamp }

/** One field that a change set, as texts; `null` where it had no value, or the log does not say it. */
export interface Change {
  readonly field: string
  readonly from: string | null
  readonly to: string | null
}

/** Most fields that an entry names, and the longest text of one; a longer text is told by its length. */
const MAX_CHANGES = 20
const MAX_CHANGE_CHARS = 200
/** Versions of a stream that are searched for the values before a change. */
const MAX_SEARCHED = 1_000

/** Events that the audit log may list. The log of mail shows those of mail. */
type Listed = Exclude<DomainEvent, Email.Event | Inbound.Event>

interface Kind<Field = string> {
  /** Fields of the event that a person set. */
  readonly fields: ReadonlyArray<Field>
  /** Types of events whose newest, before this one, has the values that it replaced. */
  readonly replaces: ReadonlyArray<Listed["_tag"]>
  /** Values before the first event that names them. */
  readonly defaults?: Readonly<Record<string, unknown>>
}

/** Events that change values. Those of `null` say by their type what they did. */
const KINDS: { readonly [T in Listed["_tag"]]: Kind<keyof Extract<Listed, { readonly _tag: T }>> | null } = {
  WebhookUpdated: {
    fields: ["url", "events", "description", "format", "svix_headers", "include_raw"],
    replaces: ["WebhookCreated", "WebhookUpdated"],
  },
  WebhookDisabled: { fields: ["cause"], replaces: [] },
  InboundRouteChanged: {
    fields: ["match", "action", "position", "enabled"],
    replaces: ["InboundRouteCreated", "InboundRouteChanged"],
  },
  TemplateChanged: {
    fields: ["name", "alias", "description", "draft"],
    replaces: ["TemplateCreated", "TemplateChanged"],
  },
  TemplatePublished: { fields: ["number"], replaces: ["TemplatePublished", "TemplateRolledBack"] },
  TemplateRolledBack: { fields: ["number"], replaces: ["TemplatePublished", "TemplateRolledBack"] },
  DomainTransportChanged: { fields: ["transport"], replaces: ["DomainAdded", "DomainTransportChanged"] },
  DomainTrackingChanged: {
    fields: ["opens", "clicks"],
    replaces: ["DomainTrackingChanged"],
    defaults: { opens: false, clicks: false },
  },
  DomainReceivingChanged: {
    fields: ["receiving"],
    replaces: ["DomainReceivingChanged"],
    defaults: { receiving: false },
  },
  TrackingDomainSet: { fields: ["name"], replaces: ["TrackingDomainSet", "TrackingDomainRemoved"] },
  MemberInvited: { fields: ["role"], replaces: [] },
  MemberRoleChanged: { fields: ["role"], replaces: ["MemberInvited", "MemberRoleChanged"] },
  KeyCreated: { fields: ["scopes"], replaces: [] },
  TestKeyCreated: { fields: ["scopes"], replaces: [] },
  SuppressionAdded: { fields: ["reason"], replaces: [] },
  PlanChanged: { fields: ["plan"], replaces: ["AccountCreated", "PlanChanged"] },
  LimitsChanged: { fields: ["limits"], replaces: ["LimitsChanged"] },
  RetentionChanged: { fields: ["content_days"], replaces: ["RetentionChanged"] },
  KeepingChanged: { fields: ["keeping"], replaces: ["KeepingChanged"] },
  LinksChanged: { fields: ["followed"], replaces: ["LinksChanged"], defaults: { followed: true } },
  AllowedHeadersChanged: { fields: ["names"], replaces: ["AllowedHeadersChanged"] },
  AccountCreated: null,
  AddressErased: null,
  SendBatchChanged: null,
  KeyRevoked: null,
  MemberJoined: null,
  MemberLinkMade: null,
  MemberPasswordSet: null,
  MemberFactorsRemoved: null,
  MemberRemoved: null,
  SuppressionRemoved: null,
  WebhookCreated: null,
  WebhookSecretRotated: null,
  WebhookEnabled: null,
  WebhookDeleted: null,
  InboundRouteCreated: null,
  InboundRouteDeleted: null,
  DomainAdded: null,
  DomainChecked: null,
  DomainVerified: null,
  DomainDegraded: null,
  DomainFailed: null,
  DkimRotated: null,
  DkimActivated: null,
  Ed25519Made: null,
  Ed25519Activated: null,
  Ed25519Suspended: null,
  Ed25519Removed: null,
  TrackingDomainRemoved: null,
  DomainRemoved: null,
  TemplateCreated: null,
  TemplateArchived: null,
  TestClockCreated: null,
  TestClockAdvancing: null,
  TestClockAdvanced: null,
  TestClockReady: null,
  TestClockReset: null,
  TestClockDeleted: null,
}

const kindOf = (type: string) => Table.at<Kind | null>(KINDS, type) ?? undefined

type Data = Readonly<Record<string, unknown>>

/** Returns what the entries of a page changed, by the ids of their events. */
export const of = Effect.fnUntraced(function* (sql: Sql, account_id: string, entries: ReadonlyArray<Audited>) {
  const changing = entries.filter(({ type }) => kindOf(type) !== undefined)
  const replacing = changing.filter(({ type }) => (kindOf(type)?.replaces.length ?? 0) > 0)
  const rows = replacing.length === 0 ? [] : yield* before(sql, account_id, replacing)
  const former = new Map(rows.map(({ data, event_id }) => [event_id, data]))
  return new Map(changing.map((entry) => [entry.event_id, changesOf(entry, former.get(entry.event_id))]))
})

/** The newest events before these that set the same fields: one search of a stream's key for each. */
const before = (sql: Sql, account_id: string, entries: ReadonlyArray<Audited>) => sql<{
  readonly event_id: string
  readonly data: Data
}>`
  SELECT changed.event_id, former.data
  FROM unnest(
    ${Arrays.texts(entries.map(({ event_id }) => event_id))},
    ${Arrays.texts(entries.map(({ stream_id }) => stream_id))},
    ${Arrays.ints(entries.map(({ version }) => version))},
    ${Arrays.texts(entries.map(({ type }) => kindOf(type)?.replaces.join(" ") ?? ""))},
    ${Arrays.texts(entries.map(({ data }) => (typeof data["user_id"] === "string" ? data["user_id"] : "")))}
  ) AS changed (event_id, stream_id, version, types, user_id)
  CROSS JOIN LATERAL (
    SELECT data FROM events
    WHERE account_id = ${account_id} AND stream_id = changed.stream_id AND version < changed.version
      AND version >= changed.version - ${MAX_SEARCHED}::int AND type = ANY(string_to_array(changed.types, ' '))
      AND (changed.user_id = '' OR data ->> 'user_id' = changed.user_id)
    ORDER BY version DESC LIMIT 1
  ) AS former`

const changesOf = ({ data, type }: Audited, former: Data | undefined): ReadonlyArray<Change> => {
  const { defaults = {}, fields } = kindOf(type) ?? { fields: [] }
  const [from, to] = [former ?? defaults, data].map(
    (values) => new Map(fields.flatMap((field) => textsOf(field, values[field]))),
  )
  const names = [...new Set([...(to?.keys() ?? []), ...(from?.keys() ?? [])])]
  return names
    .map((field) => ({ field, from: from?.get(field) ?? null, to: to?.get(field) ?? null }))
    .filter((change) => change.from !== change.to)
    .slice(0, MAX_CHANGES)
    .map((change) => ({ ...change, from: shortened(change.from), to: shortened(change.to) }))
}

/** Texts of a value by their names: a list is one text, a record one for each of its fields. */
const textsOf = (name: string, value: unknown): ReadonlyArray<readonly [name: string, text: string]> => {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.length === 0 ? [] : [[name, value.map(textOf).join(", ")]]
  if (typeof value === "object")
    return Object.entries(value).flatMap(([field, each]) => textsOf(`${name}.${field}`, each))
  return [[name, textOf(value)]]
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const shortened = (text: string | null): string | null =>
  text === null || text.length <= MAX_CHANGE_CHARS ? text : `${text.length.toLocaleString("en")} characters`
