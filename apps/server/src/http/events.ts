import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import type { EventRecord } from "@waybill/api/EventRecord"
import * as DomainEvent from "@waybill/domain/DomainEvent"
import type { FeedPage } from "@waybill/store/Ledger"
import type { Stored } from "@waybill/store/Recorded"
import { Duration, Effect, Layer, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../EventFeed.ts"
import { eventRecord } from "./records.ts"

export const EventsLive = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const feed = yield* EventFeed
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          const { after_position, limit, types, wait } = query
          const asked = { after: after_position ?? 0n, account_id, limit, ...tagsOf(types) }
          yield* feed.checkPlace(asked.after)
          const { events, more, upTo } = yield* feed.next(asked, Duration.seconds(wait ?? 0))
          return {
            object: "list" as const,
            has_more: more,
            next_position: Number(upTo),
            data: events.map(told),
          }
        }),
      stream: ({ headers, query }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          yield* feed.checkRoom(account_id)
          const { after_position, types } = query
          // Who comes back says where it was; that is later than where it once began.
          const after = headers["last-event-id"] ?? after_position ?? (yield* feed.end)
          yield* feed.checkPlace(after)
          const pages = feed.stream({ after, account_id, ...tagsOf(types) })
          // Refused a moment after there was room: an end like any other, after which the client comes again.
          return pages.pipe(
            Stream.catch(() => Stream.empty),
            Stream.flatMap((page) => Stream.fromIterable(messages(page))),
            // Said at once, because an answer's head leaves with the first of its body.
            Stream.prepend([ping(after)]),
          )
        }),
    })
  }),
).pipe(Layer.provide(EventFeed.layer))

const tagsOf = (types: ReadonlyArray<string> | undefined) =>
  types === undefined ? {} : { types: types.flatMap(DomainEvent.tagsOf) }

const told = (stored: Stored): EventRecord =>
  eventRecord(
    { ...stored, data: DomainEvent.upcast(stored.type, stored.meta.schema_version, stored.data) },
    stored.stream,
    stored.stream_id,
  )

interface Message {
  readonly id: string
  readonly event: "message" | "ping"
  readonly data: EventRecord | { readonly position: number }
}

const messages = ({ events, upTo }: FeedPage): ReadonlyArray<Message> =>
  events.length === 0
    ? [ping(upTo)]
    : events.map((stored) => ({ id: `${stored.position}`, event: "message", data: told(stored) }))

const ping = (position: bigint): Message => ({ id: `${position}`, event: "ping", data: { position: Number(position) } })
