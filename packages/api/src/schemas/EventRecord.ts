import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import * as Page from "./Page.ts"

export const Actor = Schema.Struct({
  type: Schema.Literals(["api_key", "user", "operator", "system"]),
  id: Schema.NullOr(Schema.String),
}).annotate({ identifier: "Actor" })

/** An event of the log. */
export const EventRecord = Schema.Struct({
  object: Schema.Literal("event"),
  id: Id.EventId,
  type: Schema.String.annotate({
    description: "New types may appear; ignore those that you do not know",
    examples: ["email.delivered"],
  }),
  stream: Schema.String.annotate({ description: "Kind of the object", examples: ["email"] }),
  stream_id: Schema.String.annotate({ description: "Id of the object, or the address of a suppression" }),
  version: Schema.Natural.annotate({ description: "Number of the event in the object's history, from 1" }),
  position: Page.Position,
  livemode: Schema.Boolean.annotate({ description: "False for an event of test mail" }),
  occurred_at: Timestamp.Timestamp,
  actor: Actor,
  request_id: Schema.NullOr(Schema.String),
  data: Schema.Record(Schema.String, Schema.Json),
  webhook_payload: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Json))).annotateKey({
    description:
      "Only with `include=webhook_payload`: the body of a webhook call for this event, in Waybill's own format; `null` for a type that is not sent to webhooks",
  }),
}).annotate({ identifier: "Event" })
export type EventRecord = typeof EventRecord.Type
