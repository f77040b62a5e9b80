import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as SuppressionState from "@waybill/domain/suppression/SuppressionState"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import { optional } from "../schemas/optional.ts"
import * as Checks from "../schemas/Checks.ts"
import * as Page from "../schemas/Page.ts"
import * as Livemode from "../schemas/Livemode.ts"
import { Validation } from "../middleware/Validation.ts"

/** Maximum number of addresses that one request adds or removes. */
export const MAX_BATCH = 1_000
/** Most suppressions in a page, so that a long list can be exported. */
export const MAX_PAGE = 1_000
/** Longest text that is taken for an address of a batch, so that a wrong column is rejected line by line. */
const MAX_ENTRY_CHARS = 320

const Source = Schema.Literals(["email", "request"]).annotate({
  identifier: "SuppressionSource",
  description:
    "`email`: a bounce, a complaint or an unsubscribe of a message; `request`: added over the API or by hand",
})

export const SuppressionRecord = Schema.Struct({
  object: Schema.Literal("suppression"),
  id: Id.SuppressionId,
  email: Schema.String,
  reason: SuppressionState.Reason,
  email_id: Schema.NullOr(Id.EmailId).annotate({ description: "The message that caused it" }),
  source: Source,
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

const Entry = Schema.Struct({
  index: Schema.Int.annotate({ description: "Position in the request, from 0" }),
  email: Schema.String,
  status: Schema.Literals(["added", "removed", "unchanged", "rejected"]).annotate({
    description: "`unchanged`: it was suppressed already, or was not; `rejected`: it is not an address",
  }),
  message: Schema.NullOr(Schema.String).annotate({ description: "Why it was rejected or left unchanged" }),
}).annotate({ identifier: "SuppressionBatchEntry" })
export type SuppressionBatchEntry = typeof Entry.Type

export const BatchAnswer = Schema.Struct({
  object: Schema.Literal("suppression_batch"),
  added: Schema.Int,
  removed: Schema.Int,
  unchanged: Schema.Int,
  rejected: Schema.Int,
  data: Schema.Array(Entry).annotate({ description: "One entry for each address, in the order of the request" }),
}).annotate({ identifier: "SuppressionBatchAnswer" })
export type SuppressionBatchAnswer = typeof BatchAnswer.Type

const Written = Schema.String.check(Checks.chars(MAX_ENTRY_CHARS)).annotate({ examples: ["ana@example.org"] })

const Batch = Schema.Struct({
  add: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ email: Written, reason: optional(SuppressionState.Reason, "`manual` by default") }),
    ).check(Checks.items(1, MAX_BATCH, "addresses")),
  ).annotateKey({ description: "Addresses to suppress" }),
  remove: Schema.optionalKey(Schema.Array(Written).check(Checks.items(1, MAX_BATCH, "addresses"))).annotateKey({
    description: "Addresses that can receive mail again",
  }),
})
  .check(
    Schema.makeFilter(
      ({ add, remove }) =>
        (add === undefined) !== (remove === undefined) || {
          path: ["add"],
          issue: "or `remove` is required, and not both",
        },
    ),
  )
  .annotate({ identifier: "SuppressionBatch" })

const params = { email: Address.FromText }

export class Suppressions extends HttpApiGroup.make("suppressions")
  .add(
    HttpApiEndpoint.get("list", "/suppressions", {
      query: {
        ...Livemode.query,
        limit: Page.limit(MAX_PAGE),
        after: Schema.optionalKey(Id.SuppressionId),
        q: Schema.optionalKey(
          Schema.String.annotate({ description: "Part of the address, in any case", examples: ["@example.org"] }).check(
            Checks.chars(Address.MAX_ADDRESS_OCTETS, 1),
            Checks.oneLine,
          ),
        ),
        reason: Schema.optionalKey(SuppressionState.Reason),
        source: Schema.optionalKey(Source),
        created_after: Schema.optionalKey(Timestamp.FromIso),
        created_before: Schema.optionalKey(Timestamp.FromIso),
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
        reason: optional(SuppressionState.Reason, "`manual` by default"),
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
    HttpApiEndpoint.post("batch", "/suppressions/batch", {
      query: Livemode.query,
      headers: Idempotency.headers,
      payload: Batch,
      success: Idempotency.replayable(BatchAnswer),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Add or remove suppressions in bulk",
        "suppressions:write",
        `Suppresses or releases 1 to ${MAX_BATCH} addresses, in parts that are committed one after the other: an address of a request that failed may be changed already, and is unchanged when the request is repeated. A text that is not an address is rejected alone; the answer says what happened to each.`,
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
