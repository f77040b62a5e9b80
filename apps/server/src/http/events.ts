import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import * as DomainEvent from "@waybill/domain/DomainEvent"
import { EventStore } from "@waybill/store/EventStore"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { eventRecord } from "./records.ts"

export const EventsLive = HttpApiBuilder.group(Api, "events", (handlers) =>
  handlers.handle("list", ({ query }) =>
    Effect.gen(function* () {
      const { account_id } = yield* CurrentKey
      const store = yield* EventStore
      const { after_position, limit, types } = query
      const { events, upTo } = yield* store.feed({
        after: after_position ?? 0n,
        account_id,
        limit,
        ...(types === undefined ? {} : { types: types.flatMap(DomainEvent.tagsOf) }),
      })
      return {
        object: "list" as const,
        has_more: events.length === limit,
        next_position: Number(upTo),
        data: events.map((stored) =>
          eventRecord(
            { ...stored, data: DomainEvent.upcast(stored.type, stored.meta.schema_version, stored.data) },
            stored.stream,
            stored.stream_id,
          ),
        ),
      }
    }),
  ),
)
