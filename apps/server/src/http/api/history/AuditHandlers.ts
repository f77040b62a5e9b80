import { Api } from "@waybill/api/Api"
import type { AuditEntry } from "@waybill/api/groups/history/Audit"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Audit from "@waybill/store/operations/Audit"
import { Cursors } from "@waybill/store/feed/Cursors"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { EndpointCall } from "../../middleware/Handlers.ts"
import * as Cursor from "../../../web/Cursor.ts"

export const AuditHandlers = HttpApiBuilder.group(Api, "audit", (handlers) =>
  handlers.handle("list", ({ query }) =>
    Effect.gen(function* () {
      const { account_id } = yield* CurrentKey
      const { after, limit, ...filters } = query
      const cursors = yield* Cursors
      const before = after === undefined ? undefined : yield* Cursor.read(account_id, "after", after)
      const matches = Object.keys(filters).length === 0 ? {} : { matches: matchesOf(filters) }
      const page = yield* Audit.list({ account_id, limit, ...(before === undefined ? {} : { before }), ...matches })
      return {
        object: "list" as const,
        has_more: page.next !== null,
        next_cursor: page.next === null ? null : cursors.ofEvent(account_id, page.next),
        data: page.entries.map((entry) => entryOf(entry, cursors.ofEvent(account_id, entry.position))),
      }
    }),
  ),
)

type Filters = Omit<EndpointCall<"audit", "list">["query"], "after" | "limit">

const matchesOf =
  ({ actor_id, created_after, created_before, q = [], stream }: Filters) =>
  (entry: Audit.NamedEntry): boolean =>
    (stream === undefined || entry.stream === stream) &&
    (actor_id === undefined || entry.meta.actor.id === actor_id) &&
    (created_after === undefined || entry.recorded_at >= created_after) &&
    (created_before === undefined || entry.recorded_at < created_before) &&
    q.every((word) => textsOf(entry).some((text) => text.toLowerCase().includes(word.toLowerCase())))

const textsOf = ({ actor_name, meta, stream_id, target_name, type }: Audit.NamedEntry): ReadonlyArray<string> => [
  DomainEvent.publicType(type as DomainEvent.Tag),
  stream_id,
  meta.actor.id ?? "",
  actor_name ?? "",
  target_name ?? "",
]

const entryOf = (
  { actor_name, changes, event_id, meta, recorded_at, stream, stream_id, target_name, type }: Audit.Listed,
  position: AuditEntry["position"],
): AuditEntry => ({
  object: "audit_entry",
  id: event_id,
  position,
  type: DomainEvent.publicType(type as DomainEvent.Tag),
  stream,
  stream_id,
  occurred_at: recorded_at,
  actor: { type: meta.actor.type, id: meta.actor.id },
  actor_name,
  target_name,
  changes,
  address: meta.address,
  request_id: meta.request_id,
})
