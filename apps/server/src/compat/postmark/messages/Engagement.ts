import type { EmailRecord } from "@waybill/api/schemas/EmailRecord"
import type { EventRecord } from "@waybill/api/schemas/EventRecord"
import { Effect } from "effect"
import type { Route } from "../../Door.ts"
import * as Native from "../../Native.ts"
import { route } from "../../route.ts"
import * as Reader from "../../../webhookFormats/PostmarkReader.ts"
import * as Words from "../../../webhookFormats/PostmarkWords.ts"
import * as Filters from "../Filters.ts"
import * as Paging from "../Paging.ts"

/** Maximum number of opens or clicks in an answer, each of which may need the timeline of another message. */
export const MAX_EVENTS = 100

interface Kind {
  /** The last part of the path, and the count in a record of the log. */
  readonly name: "opens" | "clicks"
  readonly type: string
  readonly list: "Opens" | "Clicks"
  readonly fieldsOf: (data: EventRecord["data"]) => object
}

const OPENS: Kind = {
  name: "opens",
  type: "email.opened",
  list: "Opens",
  fieldsOf: () => ({ RecordType: "Open", ReadSeconds: 0 }),
}
const CLICKS: Kind = {
  name: "clicks",
  type: "email.clicked",
  list: "Clicks",
  fieldsOf: ({ url }) => ({ RecordType: "Click", ClickLocation: "HTML", OriginalLink: url }),
}

/** Returns the opens or clicks of a message, newest first. */
const eventsOf = Effect.fnUntraced(function* ({ fieldsOf, type }: Kind, id: string, Tag: string) {
  const { data } = yield* Native.get<Native.List<EventRecord>>(Native.path`/v1/email/logs/${id}/events`)
  return data
    .filter((event) => event.type === type)
    .toReversed()
    .map((event) => ({
      ...fieldsOf(event.data),
      MessageID: id,
      MessageStream: Words.STREAM,
      Tag,
      Recipient: event.data["recipient"] ?? "",
      ReceivedAt: event.occurred_at,
      ...Reader.of(event.data),
    }))
})

const tagOf = (record: EmailRecord): string => Words.labelsOf(record).Tag

const rangeOf = Effect.fnUntraced(function* (query: URLSearchParams) {
  const range = yield* Paging.rangeOf(query)
  return range.count > MAX_EVENTS
    ? yield* Native.refuse("count", `must be a whole number from 1 to ${MAX_EVENTS}`)
    : range
})

/** Lists events by their messages, the newest message first. */
const all = (kind: Kind) =>
  route(
    `GET /messages/outbound/${kind.name}`,
    { endpoint: "logs.list", query: [...Filters.LIST, "recipient", "tag"] },
    function* ({ query }) {
      yield* Filters.checkStream(query)
      const filters = Filters.native({
        to: query.get("recipient"),
        tag: query.get("tag"),
        created_after: yield* Paging.from(query),
        created_before: yield* Paging.until(query),
      })
      const pick = (record: EmailRecord) =>
        Array.from({ length: Math.min(record[kind.name], Paging.MAX_REACH + 1) }, (_, nth) => ({ record, nth }))
      const show = ({ nth, record }: ReturnType<typeof pick>[number]) => ({ id: record.id, tag: tagOf(record), nth })
      const range = yield* rangeOf(query)
      const places = yield* Filters.respelled(Paging.read("/v1/email/logs", filters, range, pick, show))
      const found: Array<object> = []
      for (const [id, ofMessage] of Map.groupBy(places.entries, (place) => place.id)) {
        const events = yield* eventsOf(kind, id, ofMessage[0]?.tag ?? "")
        found.push(...ofMessage.flatMap(({ nth }) => events.slice(nth, nth + 1)))
      }
      return Native.ok({ TotalCount: places.total, [kind.list]: found })
    },
  )

const ofMessage = (kind: Kind) =>
  route(
    `GET /messages/outbound/${kind.name}/:id`,
    { endpoint: "logs.get", query: ["count", "offset", "messagestream"] },
    function* ({ query }, { id }) {
      const { count, offset } = yield* rangeOf(query)
      const record = yield* Native.get<EmailRecord>(Native.path`/v1/email/logs/${id}`)
      const events = yield* eventsOf(kind, record.id, tagOf(record))
      return Native.ok({ TotalCount: events.length, [kind.list]: events.slice(offset, offset + count) })
    },
  )

export const routes: ReadonlyArray<Route> = [OPENS, CLICKS].flatMap((kind) => [all(kind), ofMessage(kind)])
