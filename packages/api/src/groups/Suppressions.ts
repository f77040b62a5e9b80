import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../Authorization.ts"
import { annotate } from "../annotate.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import { optional } from "../schemas/optional.ts"
import * as Checks from "../schemas/Checks.ts"
import * as Page from "../schemas/Page.ts"
import * as Livemode from "../schemas/Livemode.ts"
import { Validation } from "../errors/Validation.ts"

export const SuppressionRecord = Schema.Struct({
  object: Schema.Literal("suppression"),
  id: Id.SuppressionId,
  email: Schema.String,
  reason: Suppression.Reason,
  email_id: Schema.NullOr(Id.EmailId).annotate({ description: "The message that caused it" }),
  livemode: Livemode.field("False for an address that test mail suppressed; live mail to it is sent"),
  created_at: Timestamp.Timestamp,
}).annotate({ identifier: "Suppression" })
export type SuppressionRecord = typeof SuppressionRecord.Type

export const Removed = Schema.Struct({
  object: Schema.Literal("suppression"),
  id: Id.SuppressionId,
  email: Schema.String,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "SuppressionRemoved" })

const params = { email: Address.FromText }

export class Suppressions extends HttpApiGroup.make("suppressions")
  .add(
    HttpApiEndpoint.get("list", "/suppressions", {
      query: {
        ...Livemode.query,
        limit: Page.limit(),
        after: Schema.optionalKey(Id.SuppressionId),
        q: Schema.optionalKey(
          Schema.String.annotate({ description: "Part of the address, in any case", examples: ["@example.org"] }).check(
            Checks.chars(Address.MAX_ADDRESS_OCTETS, 1),
            Checks.oneLine,
          ),
        ),
        reason: Schema.optionalKey(Suppression.Reason),
      },
      success: Page.of(SuppressionRecord),
    }).annotateMerge(
      annotate(
        "List suppressions",
        "suppressions:read",
        "Addresses that no longer receive mail, newest first. With a filter, a page may hold fewer than `limit` and still have `has_more`.",
      ),
    ),
    HttpApiEndpoint.get("get", "/suppressions/:email", {
      params,
      query: Livemode.query,
      success: SuppressionRecord,
    }).annotateMerge(annotate("Get a suppression", "suppressions:read", "Whether an address is suppressed, and why.")),
    HttpApiEndpoint.post("add", "/suppressions", {
      query: Livemode.query,
      headers: Idempotency.headers,
      payload: Schema.Struct({
        email: Address.FromText,
        reason: optional(Suppression.Reason, "`manual` by default"),
      }).annotate({ identifier: "SuppressionAddition" }),
      success: Idempotency.replayable(SuppressionRecord.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Suppress an address",
        "suppressions:write",
        "Later mail to this address gets the status `suppressed` instead of being sent.",
      ),
    ),
    HttpApiEndpoint.delete("remove", "/suppressions/:email", {
      params,
      query: Livemode.query,
      success: Removed,
    }).annotateMerge(annotate("Remove a suppression", "suppressions:write", "The address can receive mail again.")),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Suppressions",
      description: "Addresses that bounced, complained or unsubscribed.",
    }),
  ) {}
