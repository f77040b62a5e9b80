import { auditStreams } from "@waybill/domain/stream/auditStreams"
import * as Id from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization } from "../../middleware/Authorization.ts"
import { annotate } from "../../middleware/annotate.ts"
import { Actor } from "../../schemas/EventRecord.ts"
import * as EmailSearch from "../../schemas/EmailSearch.ts"
import * as Page from "../../schemas/Page.ts"
import { Validation } from "../../middleware/Validation.ts"

const Value = (description: string) => Schema.NullOr(Schema.String).annotateKey({ description })

const AuditChange = Schema.Struct({
  field: Schema.String.annotate({ examples: ["role"] }),
  from: Value("Value before as text; `null` if there was none"),
  to: Value("Value after as text; `null` if there is none. A text over 200 characters is told by its length"),
}).annotate({ identifier: "AuditChange" })

export const AuditEntry = Schema.Struct({
  object: Schema.Literal("audit_entry"),
  id: Id.EventId,
  position: Page.Position,
  type: Schema.String.annotate({ description: "The action", examples: ["api_key.revoked"] }),
  stream: Schema.String.annotate({ examples: ["api_key"] }),
  stream_id: Schema.String.annotate({ description: "Id of the object that was changed" }),
  occurred_at: Timestamp.Timestamp,
  actor: Actor,
  actor_name: Schema.NullOr(Schema.String).annotate({
    description: "Name of the API key or the member; `null` for operators and the service",
  }),
  target_name: Schema.NullOr(Schema.String).annotate({
    description:
      "Name of the object that was changed: of a key, a domain, a template or a member, the URL of a webhook, the recipients of an inbound route, an address",
  }),
  changes: Schema.Array(AuditChange).annotate({
    description: "Fields that the action set; empty where its type says all",
  }),
  address: Schema.NullOr(Schema.String).annotate({ description: "IP address of the caller" }),
  request_id: Schema.NullOr(Schema.String),
}).annotate({ identifier: "AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

export class Audit extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/audit", {
      query: {
        limit: Page.limit(),
        after: Schema.optionalKey(Page.Position),
        q: Schema.optionalKey(EmailSearch.wordsIn("the action, of the name or the id of the object or the actor")),
        stream: Schema.optionalKey(Schema.Literals(auditStreams).annotate({ description: "Kind of the object" })),
        actor_id: Schema.optionalKey(
          Schema.Union([Id.ApiKeyId, Id.UserId]).annotate({ description: "Id of the key or the member" }),
        ),
        created_after: Schema.optionalKey(Timestamp.FromIso),
        created_before: Schema.optionalKey(Timestamp.FromIso),
      },
      success: Page.of(AuditEntry),
    }).annotateMerge(
      annotate(
        "List audit entries",
        "admin",
        "Changes by keys, users and operators to keys, domains, webhooks, templates, inbound routes, suppressions and the account, newest first. Mail is in the logs. With a filter, a page may hold fewer than `limit` and still have `has_more`.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Audit", description: "Administrative changes, with actor and address." }),
  ) {}
