import * as DomainEvent from "@waybill/domain/DomainEvent"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization } from "./Authorization.ts"
import { about } from "./Endpoint.ts"
import { EventRecord } from "./EventRecord.ts"
import * as Page from "./Page.ts"
import { Validation } from "./Validation.ts"

export const MAX_EVENTS = 1_000
export const DEFAULT_EVENTS = 100

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

/** A stretch of the log. `next_position` is where to go on, also when nothing in between was asked for. */
export const Feed = Schema.Struct({
  object: Schema.Literal("list"),
  has_more: Schema.Boolean,
  next_position: Schema.Natural.annotate({ description: "The `after_position` of the next request; write it down with what you did" }),
  data: Schema.Array(EventRecord),
}).annotate({ identifier: "EventFeed" })

export class Events extends HttpApiGroup.make("events")
  .add(
    HttpApiEndpoint.get("list", "/events", {
      query: {
        after_position: Schema.optionalKey(Page.position),
        types: Schema.optionalKey(Types),
        limit: Page.limit(MAX_EVENTS, DEFAULT_EVENTS),
      },
      success: Feed,
    }).annotateMerge(
      about("Read the account's history", "admin", "In order, oldest first: what webhooks push, to pull. Never skips an event, also while others are written."),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Events", description: "The log itself." })) {}
