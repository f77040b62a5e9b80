import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import type { EventRecord } from "@waybill/api/schemas/EventRecord"
import type { Ping } from "@waybill/api/groups/Events"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import { Cursors, type CursorsShape } from "@waybill/store/feed/Cursors"
import type { FeedPage } from "@waybill/store/commit/LogStorage"
import type { Stored } from "@waybill/store/commit/RecordedEvents"
import { Duration, Effect, Layer, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { EventFeed } from "../../live/EventFeed.ts"
import * as Revocations from "../../live/Revocations.ts"
import * as Cursor from "../Cursor.ts"
import * as Records from "./Records.ts"

export const EventHandlers = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const feed = yield* EventFeed
    const cursors = yield* Cursors
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          const { after_position, limit, types, wait } = query
          const after = yield* Cursor.read(account_id, "after_position", after_position ?? "0")
          const request = { after, account_id, limit, ...tagsOf(types) }
          yield* feed.checkPosition(request.after)
          const { events, more, upTo } = yield* Revocations.whileAdmitted(
            feed.next(request, Duration.seconds(wait ?? 0)),
          )
          return {
            object: "list" as const,
            has_more: more,
            next_position: cursors.ofProgress(account_id, upTo),
            data: events.map(toRecord(cursors)),
          }
        }),
      stream: ({ headers, query }) =>
        Effect.gen(function* () {
          const { account_id } = yield* CurrentKey
          yield* feed.checkStreamLimit(account_id)
          const { after_position, types } = query
          // A reconnecting client sends the last id it received, which is later than its first position.
          const start = headers["last-event-id"] ?? after_position
          const field = headers["last-event-id"] === undefined ? "after_position" : "last-event-id"
          const after = start === undefined ? yield* feed.end : yield* Cursor.read(account_id, field, start)
          yield* feed.checkPosition(after)
          const pages = feed.stream({ after, account_id, ...tagsOf(types) })
          // The limit of streams was reached after it was checked; the stream ends, and the client reconnects.
          return pages.pipe(
            Stream.catch(() => Stream.empty),
            Stream.flatMap((page) => Stream.fromIterable(messages(cursors, account_id, page))),
            Stream.interruptWhen(yield* endOfAdmission),
            // Sent at once, because the response head is sent together with the first bytes of the body.
            Stream.prepend([ping(cursors.ofProgress(account_id, after))]),
          )
        }),
    })
  }),
).pipe(Layer.provide(EventFeed.layer))

/** Time that a slow client has to read the end of its stream. */
const CLOSING_MS = 250

/**
 * Ends when the client's access is revoked. Its connection is closed a moment later, even if it has not read
 * everything.
 */
const endOfAdmission = Effect.gen(function* () {
  const revoked = yield* Revocations.revoked
  const response = NodeHttpServerRequest.toServerResponse(yield* HttpServerRequest.HttpServerRequest)
  const close = Effect.delay(
    Effect.sync(() => response.destroy()),
    Duration.millis(CLOSING_MS),
  )
  return Effect.catch(revoked, () => Effect.asVoid(Effect.forkDetach(close)))
})

const tagsOf = (types: ReadonlyArray<string> | undefined) =>
  types === undefined ? {} : { types: types.flatMap(DomainEvent.tagsOf) }

const toRecord =
  (cursors: CursorsShape) =>
  (stored: Stored): EventRecord =>
    Records.eventRecord(
      { ...stored, data: DomainEvent.upcast(stored.type, stored.meta.schema_version, stored.data) },
      cursors.ofEvent(stored.account_id, stored.position),
      stored.stream,
      stored.stream_id,
    )

interface Message {
  readonly id: string
  readonly event: "message" | "ping"
  readonly data: EventRecord | Ping
}

const messages = (cursors: CursorsShape, account_id: string, { events, upTo }: FeedPage): ReadonlyArray<Message> =>
  events.length === 0
    ? [ping(cursors.ofProgress(account_id, upTo))]
    : events.map(toRecord(cursors)).map((data) => ({ id: data.position, event: "message", data }))

const ping = (position: Ping["position"]): Message => ({ id: position, event: "ping", data: { position } })
