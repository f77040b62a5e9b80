import * as DomainEvent from "@waybill/domain/DomainEvent"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "./ApiError.ts"
import { Authorization } from "./Authorization.ts"
import { about } from "./Endpoint.ts"
import { EventRecord } from "./EventRecord.ts"
import * as Page from "./Page.ts"
import { Validation } from "./Validation.ts"

export const MAX_EVENTS = 1_000
export const DEFAULT_EVENTS = 100

/** A request waits this long at most: shorter than what proxies usually cut off. */
export const MAX_WAIT_SECONDS = 20

const TYPES = DomainEvent.TAGS.map(DomainEvent.publicType)

/** `email.delivered`, or several with commas between. */
const Types = Schema.String.annotate({
  description: "One or several types, with commas between",
  examples: ["email.delivered,email.bounced"],
}).pipe(
  Schema.decodeTo(
    Schema.Array(Schema.String),
    SchemaTransformation.transformEffect<ReadonlyArray<string>, string>({
      decode: (text) => {
        const words = text.split(",").map((word) => word.trim())
        const stranger = words.find((word) => DomainEvent.tagsOf(word).length === 0)
        return stranger === undefined
          ? Effect.succeed(words)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: `takes one or several of ${TYPES.join(", ")}` }))
      },
      encode: (types) => Effect.succeed(types.join(",")),
    }),
  ),
)

/** `20s`, or the bare number of seconds. */
const Wait = Schema.String.annotate({
  description: `How long an empty answer waits for an event, at most ${MAX_WAIT_SECONDS}s`,
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

/** A stretch of the log. `next_position` is where to go on, also when nothing in between was asked for. */
export const Feed = Schema.Struct({
  object: Schema.Literal("list"),
  has_more: Schema.Boolean,
  next_position: Page.Position.annotateKey({
    description: "The `after_position` of the next request; write it down with what you did",
  }),
  data: Schema.Array(EventRecord),
}).annotate({ identifier: "EventFeed" })

/** Where the stream has got to while nothing happened; also keeps proxies from taking the silence for the end. */
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
      query: {
        after_position: Schema.optionalKey(Page.From),
        types: Schema.optionalKey(Types),
        limit: Page.limit(MAX_EVENTS, DEFAULT_EVENTS),
        wait: Schema.optionalKey(Wait),
      },
      success: Feed,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Read the account's history",
        "admin",
        "In order, oldest first: what webhooks push, to pull. Never skips an event, also while others are written. With `wait`, an answer that would be empty waits for the next event.",
      ),
    ),
    HttpApiEndpoint.get("stream", "/events/stream", {
      query: { after_position: Schema.optionalKey(Page.From), types: Schema.optionalKey(Types) },
      headers: { "last-event-id": Schema.optionalKey(Page.From) },
      success: Streamed,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Stream the account's events",
        "admin",
        "Server-sent events as they are written, from `after_position` or `Last-Event-ID`, else from now on; each has its position for an id, to be sent back as it is. A stream ends after a few minutes, to be taken up again where it ended.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Events", description: "The log itself." })) {}
