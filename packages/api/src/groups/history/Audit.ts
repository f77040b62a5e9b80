import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization } from "../../Authorization.ts"
import { annotate } from "../../annotate.ts"
import { Actor } from "../../schemas/EventRecord.ts"
import * as Page from "../../schemas/Page.ts"
import { Validation } from "../../errors/Validation.ts"

export const AuditEntry = Schema.Struct({
  object: Schema.Literal("audit_entry"),
  id: Id.EventId,
  position: Page.Position,
  type: Schema.String.annotate({ description: "The action", examples: ["api_key.revoked"] }),
  stream: Schema.String.annotate({ examples: ["api_key"] }),
  stream_id: Schema.String.annotate({ description: "Id of the object that was changed" }),
  occurred_at: Timestamp.Timestamp,
  actor: Actor,
  address: Schema.NullOr(Schema.String).annotate({ description: "IP address of the caller" }),
  request_id: Schema.NullOr(Schema.String),
}).annotate({ identifier: "AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

export class Audit extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", {
      query: { limit: Page.limit(), after: Schema.optionalKey(Page.Position) },
      success: Page.of(AuditEntry),
    }).annotateMerge(
      annotate(
        "List audit entries",
        "admin",
        "Changes by keys, users and operators to keys, domains, webhooks, suppressions and the account, newest first. Sending is in the logs.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Audit", description: "Administrative changes, with actor and address." }),
  ) {}
