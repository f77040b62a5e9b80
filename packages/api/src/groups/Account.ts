import * as Id from "@waybill/domain/values/Id"
import * as Plan from "@waybill/domain/account/Plan"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Livemode from "../schemas/Livemode.ts"
import { Validation } from "../middleware/Validation.ts"

const at = Timestamp.Timestamp

export const AccountRecord = Schema.Struct({
  object: Schema.Literal("account"),
  id: Id.AccountId,
  livemode: Schema.Boolean.annotate({ description: "False for a test key: usage and limits are those of test mail" }),
  name: Schema.String.annotate({ examples: ["Acme"] }),
  plan: Plan.Plan,
  created_at: at,
  inbound_domain: Schema.String.annotate({
    description: "Mail to any address of this domain is received for the account",
  }),
  content_days: Schema.Natural.annotate({ description: "Days that message content is kept" }),
  usage: Schema.Struct({
    month: Schema.String.annotate({ description: "UTC month", examples: ["2026-11"] }),
    emails: Schema.Natural.annotate({ description: "Recipients accepted in this month; canceled ones are refunded" }),
    scheduled_bytes: Schema.Natural.annotate({
      description:
        "Bytes of content of mail accepted in this month that is scheduled, or was canceled and is not removed yet",
    }),
    resets_at: at,
  }),
  limits: Schema.Struct({
    monthly_emails: Schema.NullOr(Schema.Natural).annotate({ description: "`null` is unlimited" }),
    max_recipients: Schema.Natural.annotate({ description: "Per message, across to, cc and bcc" }),
    scheduled_bytes: Schema.Natural.annotate({ description: "Bytes of content of scheduled mail of a month" }),
    send_per_minute: Schema.Natural,
    logs_per_minute: Schema.Natural,
    other_per_minute: Schema.Natural,
  }),
}).annotate({ identifier: "Account" })
export type AccountRecord = typeof AccountRecord.Type

export class Account extends HttpApiGroup.make("account")
  .add(
    HttpApiEndpoint.get("get", "/account", {
      query: Schema.Struct(Livemode.query),
      success: AccountRecord,
    }).annotateMerge(annotate("Get the account", "any key", "Plan, limits and usage of the current month.")),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Account", description: "Plan, usage and limits." })) {}
