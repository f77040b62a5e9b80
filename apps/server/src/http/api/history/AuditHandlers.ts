import { Api } from "@waybill/api/Api"
import type { AuditEntry } from "@waybill/api/groups/history/Audit"
import { CurrentKey } from "@waybill/api/Authorization"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import * as Audit from "@waybill/store/operations/Audit"
import { Cursors } from "@waybill/store/feed/Cursors"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Cursor from "../../Cursor.ts"

export const AuditHandlers = HttpApiBuilder.group(Api, "audit", (handlers) =>
  handlers.handle("list", ({ query }) =>
    Effect.gen(function* () {
      const { account_id } = yield* CurrentKey
      const { after, limit } = query
      const cursors = yield* Cursors
      const before = after === undefined ? undefined : yield* Cursor.read(account_id, "after", after)
      const rows = yield* Audit.list({
        account_id,
        limit: limit + 1,
        ...(before === undefined ? {} : { before }),
      })
      const page = rows.slice(0, limit).map((entry) => entryOf(entry, cursors.ofEvent(account_id, entry.position)))
      const has_more = rows.length > limit
      return {
        object: "list" as const,
        has_more,
        next_cursor: has_more ? (page.at(-1)?.position ?? null) : null,
        data: page,
      }
    }),
  ),
)

const entryOf = (
  { event_id, meta, recorded_at, stream, stream_id, type }: Audit.Entry,
  position: AuditEntry["position"],
): AuditEntry => ({
  object: "audit_entry",
  id: event_id,
  position,
  type: DomainEvent.publicType(type as DomainEvent.Tag),
  stream,
  stream_id,
  occurred_at: recorded_at as Timestamp.Timestamp,
  actor: { type: meta.actor.type, id: meta.actor.id },
  address: meta.address,
  request_id: meta.request_id,
})
