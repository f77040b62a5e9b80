import { HttpApi, OpenApi } from "effect/http-api"
import * as Document from "./Document.ts"
import * as Groups from "./Groups.ts"
import { EmailMessage } from "./schemas/EmailMessage.ts"
import { TemplatedMessage } from "./schemas/send/TemplatedMessage.ts"
import { System } from "./groups/System.ts"

export const PREFIX = "/v1"

/** The whole public API. Everything under /v1 only grows. */
export class Api extends HttpApi.make("waybill")
  .add(...Groups.GROUPS)
  .prefix(PREFIX)
  .add(System)
  // Their schemas are chosen while a message is decoded, so that no endpoint names them.
  .annotate(HttpApi.AdditionalSchemas, [EmailMessage, TemplatedMessage])
  .annotateMerge(
    OpenApi.annotations({
      title: "Waybill",
      version: "1",
      summary: "Self-hosted transactional email on Postgres, with a complete history of every message",
      description:
        "Requests and responses are JSON in snake_case; times are ISO 8601 UTC with milliseconds. Absent optional values are `null` in responses. Every response has `X-Request-Id` and the rate limit headers. If logs are read from replicas, a write also returns `X-Waybill-Position`; send it with later requests to read your own writes on any node. Ignore fields, values and event types of responses that you do not know. Unknown fields and query parameters of a request are refused with 400 `unknown_field`.",
      servers: [{ url: "/", description: "The instance that serves this document" }],
      license: { name: "Apache-2.0", identifier: "Apache-2.0" } as { name: string },
      transform: Document.finish,
    }),
  ) {}
