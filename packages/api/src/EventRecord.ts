import * as Id from "@waybill/domain/Id"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Schema } from "effect"
import * as Page from "./Page.ts"

export const Actor = Schema.Struct({
  type: Schema.Literals(["api_key", "user", "operator", "system"]),
  id: Schema.NullOr(Schema.String),
}).annotate({ identifier: "Actor" })

/** A fact of the log, as it was written. */
export const EventRecord = Schema.Struct({
  object: Schema.Literal("event"),
  id: Id.EventId,
  type: Schema.String.annotate({
    description: "New types may appear; ignore those you do not know",
    examples: ["email.delivered"],
  }),
  stream: Schema.String.annotate({ description: "The kind of thing it is about", examples: ["email"] }),
  stream_id: Schema.String.annotate({ description: "Which one: its id, or the address of a suppression" }),
  version: Schema.Natural.annotate({ description: "Its place in the history of that thing, from 1" }),
  position: Page.Position,
  occurred_at: Timestamp.Timestamp,
  actor: Actor,
  request_id: Schema.NullOr(Schema.String),
  data: Schema.Record(Schema.String, Schema.Json),
}).annotate({ identifier: "Event" })
export type EventRecord = typeof EventRecord.Type
