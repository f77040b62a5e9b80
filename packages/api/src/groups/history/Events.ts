import * as DomainEvent from "@waybill/domain/stream/DomainEvent"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../../errors/ApiError.ts"
import * as UnknownNames from "../../errors/UnknownNames.ts"
import { Authorization } from "../../middleware/Authorization.ts"
import { annotate } from "../../middleware/annotate.ts"
import { EventRecord } from "../../schemas/EventRecord.ts"
import * as Page from "../../schemas/Page.ts"
import * as Livemode from "../../schemas/Livemode.ts"
import { Validation } from "../../middleware/Validation.ts"

export const MAX_EVENTS = 1_000
export const DEFAULT_EVENTS = 100

/** Longest wait of a request, shorter than the usual timeout of proxies. */
export const MAX_WAIT_SECONDS = 20

const TYPES = [...new Set(DomainEvent.TAGS.map(DomainEvent.publicType))]

/** One or several types, separated by commas. */
const Types = Schema.String.annotate({
  description: "One or several types, separated by commas",
  examples: ["email.delivered,email.bounced"],
}).pipe(
  Schema.decodeTo(
    Schema.Array(Schema.String),
    SchemaTransformation.transformEffect<ReadonlyArray<string>, string>({
      decode: (text) => {
        const words = text.split(",").map((word) => word.trim())
        const unknown = words.find((word) => DomainEvent.tagsOf(word).length === 0)
        return unknown === undefined
          ? Effect.succeed(words)
          : Effect.fail(
              new SchemaIssue.InvalidValue({
                message: UnknownNames.suggest(unknown, TYPES) ?? `takes one or several of ${TYPES.join(", ")}`,
              }),
            )
      },
      encode: (types) => Effect.succeed(types.join(",")),
    }),
  ),
)

/** `20s` or a bare number of seconds. */
const Wait = Schema.String.annotate({
  description: `How long to wait for an event if there is none, at most ${MAX_WAIT_SECONDS}s`,
  examples: ["20s"],
}).pipe(
  Schema.decodeTo(
    Schema.Int,
    SchemaTransformation.transformEffect<number, string>({
      decode: (text) => {
        const seconds = /^[0-9]{1,2}s?$/u.test(text) ? Number.parseInt(text, 10) : Number.NaN
        return seconds <= MAX_WAIT_SECONDS
          ? Effect.succeed(seconds)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: `takes 0s to ${MAX_WAIT_SECONDS}s` }))
      },
      encode: (seconds) => Effect.succeed(`${seconds}s`),
    }),
  ),
)

const start = {
  ...Livemode.query,
  after_position: Schema.optionalKey(Page.From),
  created_after: Schema.optionalKey(Timestamp.FromIso).annotateKey({
    description:
      "Starts with the first event at or after this time, in place of `after_position`. Later events follow in order, also if a clock gave one of them an earlier time",
  }),
  types: Schema.optionalKey(Types),
  include: Schema.optionalKey(Schema.Literal("webhook_payload")).annotateKey({
    description: "Adds the body of the webhook call to each event",
  }),
}

/** Refuses two starts. */
const oneStart = Schema.makeFilter(
  ({ after_position, created_after }: { readonly after_position?: string; readonly created_after?: string }) =>
    after_position === undefined ||
    created_after === undefined || { path: ["created_after"], issue: "cannot be combined with `after_position`" },
)

/** A range of the log. `next_position` also advances past events that the filter left out. */
export const Feed = Schema.Struct({
  object: Schema.Literal("list"),
  has_more: Schema.Boolean,
  next_position: Page.Position.annotateKey({
    description: "The `after_position` of the next request; store it together with your results",
  }),
  data: Schema.Array(EventRecord),
}).annotate({ identifier: "EventFeed" })

/** Position of the stream while there are no events. Also keeps proxies from closing an idle connection. */
export const Ping = Schema.Struct({ position: Page.Position }).annotate({ identifier: "EventStreamPing" })
export type Ping = typeof Ping.Type

const Streamed = HttpApiSchema.StreamSse({
  events: Schema.Struct({
    id: Schema.String,
    event: Schema.Literals(["message", "ping"]),
    data: Schema.fromJsonString(Schema.Union([EventRecord, Ping])),
  }),
})

export class Events extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/events", {
      query: Schema.Struct({
        ...start,
        limit: Page.limit(MAX_EVENTS, DEFAULT_EVENTS),
        wait: Schema.optionalKey(Wait),
      }).check(oneStart),
      success: Feed,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "List events",
        "events:read",
        "All events of the account in order, oldest first. Never skips an event, even during concurrent writes. With `wait`, an empty response waits for the next event. A page of large events may hold fewer than `limit` and still have `has_more`.",
      ),
    ),
    HttpApiEndpoint.get("stream", "/events/stream", {
      query: Schema.Struct(start).check(oneStart),
      headers: { "last-event-id": Schema.optionalKey(Page.From) },
      success: Streamed,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Stream events",
        "events:read",
        "Server-sent events from `Last-Event-ID`, `after_position` or `created_after`, else from now on. The id of each is its position. A stream ends after a few minutes; reconnect with the last id.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Events", description: "The event log of the account." })) {}
