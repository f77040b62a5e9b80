import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Api } from "@waybill/api/Api"
import type { EventRecord } from "@waybill/api/schemas/EventRecord"
import type { Ping } from "@waybill/api/groups/history/Events"
import * as Livemode from "@waybill/domain/account/Livemode"
import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as WebhookType from "@waybill/domain/webhook/WebhookType"
import { Cursors, type CursorsShape } from "@waybill/store/feed/Cursors"
import * as PositionSearch from "@waybill/store/feed/PositionSearch"
import * as EmailLogRecord from "@waybill/store/readmodels/emails/EmailLogRecord"
import type { FeedPage } from "@waybill/store/feed/Feed"
import * as RecordedEvents from "@waybill/store/log/RecordedEvents"
import { Duration, Effect, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Sql } from "@waybill/store/postgres/Sql"
import { EventFeed } from "../../../live/EventFeed.ts"
import * as Revocations from "../../../live/Revocations.ts"
import * as WebhookPayload from "../../../worker/webhooks/WebhookPayload.ts"
import * as Cursor from "../../../web/Cursor.ts"
import * as Records from "../../../web/Records.ts"
import * as Handlers from "../../middleware/Handlers.ts"

export const EventHandlers = HttpApiBuilder.group(
  Api,
  "events",
  Effect.fnUntraced(function* (handlers) {
    const feed = yield* EventFeed
    const cursors = yield* Cursors
    const sql = yield* Sql
    return handlers.handleAll({
      list: Handlers.withKey(function* ({ account_id }, { query }) {
        const { after_position, created_after, include, limit, wait } = query
        const after =
          created_after === undefined
            ? yield* Cursor.read(account_id, "after_position", after_position ?? "0")
            : yield* PositionSearch.before(account_id, created_after, yield* feed.end)
        const request = { ...selectionOf(account_id, query), after, limit }
        yield* feed.checkPosition(request.after)
        const { events, more, upTo } = yield* Revocations.whileAdmitted(feed.next(request, Duration.seconds(wait ?? 0)))
        return {
          object: "list" as const,
          has_more: more,
          next_position: cursors.ofProgress(account_id, upTo),
          data: yield* toRecords(sql, cursors, account_id, events, include),
        }
      }),
      stream: Handlers.withKey(function* ({ account_id }, { headers, query }) {
        const { after_position, created_after, include } = query
        // A reconnecting client sends the last id it received, which is later than its first position.
        const start = headers["last-event-id"] ?? after_position
        const field = headers["last-event-id"] === undefined ? "after_position" : "last-event-id"
        const end = yield* feed.end
        const after =
          start !== undefined
            ? yield* Cursor.read(account_id, field, start)
            : created_after === undefined
              ? end
              : yield* PositionSearch.before(account_id, created_after, end)
        yield* feed.checkPosition(after)
        const pages = yield* feed.stream({ ...selectionOf(account_id, query), after })
        return pages.pipe(
          Stream.mapEffect((page) => messages(sql, cursors, account_id, page, include)),
          Stream.flatMap(Stream.fromIterable),
          Stream.interruptWhen(yield* endOfAdmission),
          // Sent at once, because the response head is sent together with the first bytes of the body.
          Stream.prepend([ping(cursors.ofProgress(account_id, after))]),
          // The response has begun, so that a failure can only break it off; the client connects again.
          Stream.orDie,
        )
      }),
    })
  }),
)

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
  const closeSoon = Effect.asVoid(Effect.forkDetach(close))
  return Effect.catchTags(revoked, { Unauthorized: () => closeSoon, MissingScope: () => closeSoon })
})

type Include = "webhook_payload" | undefined

const selectionOf = (
  account_id: string,
  { include, types }: { readonly include?: Include; readonly types?: ReadonlyArray<string> },
) => ({
  account_id,
  with_messages: include !== undefined,
  ...(types === undefined ? {} : { types: types.flatMap(DomainEvent.tagsOf) }),
})

type Payload = NonNullable<EventRecord["webhook_payload"]> | null

/** Returns events as records, with the payload of their webhook calls if that is requested. */
const toRecords = Effect.fnUntraced(function* (
  sql: Sql,
  cursors: CursorsShape,
  account_id: string,
  stored: ReadonlyArray<RecordedEvents.Stored>,
  include: Include,
) {
  const events = stored.map(RecordedEvents.inCurrentShape)
  const records = events.map((event) =>
    Records.eventRecord(event, cursors.ofEvent(account_id, event.position), event.stream, event.stream_id),
  )
  if (include === undefined) return records
  const messages = new Set(events.flatMap(({ stream, stream_id }) => (stream === "email" ? [stream_id] : [])))
  const emails = yield* EmailLogRecord.accepted(sql, account_id, [...messages])
  return records.map((record, nth) => {
    const webhook_payload = payloadOf(record.type, events[nth], emails) as Payload
    return { ...record, webhook_payload }
  })
})

const payloadOf = (
  event_type: string,
  event: RecordedEvents.Stored | undefined,
  emails: ReadonlyMap<string, EmailLogRecord.EmailLogRecord>,
) =>
  event === undefined || !WebhookType.isWebhookType(event_type)
    ? null
    : WebhookPayload.native({
        event_id: event.event_id,
        event_type,
        livemode: Livemode.isLive(event.account_id),
        created_at: event.recorded_at,
        webhook_id: "",
        event,
        email: emails.get(event.stream_id) ?? null,
      })

interface Message {
  readonly id: string
  readonly event: "message" | "ping"
  readonly data: EventRecord | Ping
}

const messages = (sql: Sql, cursors: CursorsShape, account_id: string, { events, upTo }: FeedPage, include: Include) =>
  events.length === 0
    ? Effect.succeed<ReadonlyArray<Message>>([ping(cursors.ofProgress(account_id, upTo))])
    : Effect.map(toRecords(sql, cursors, account_id, events, include), (records): ReadonlyArray<Message> =>
        records.map((data) => ({ id: data.position, event: "message", data })),
      )

const ping = (position: Ping["position"]): Message => ({ id: position, event: "ping", data: { position } })
