import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Forward from "@waybill/domain/inbound/Forward"
import * as InboundRefusal from "@waybill/domain/inbound/InboundRefusal"
import * as State from "@waybill/domain/inbound/InboundState"
import * as Route from "@waybill/domain/inbound/Route"
import * as RoutePattern from "@waybill/domain/inbound/RoutePattern"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import * as Checks from "../schemas/Checks.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import { optional } from "../schemas/optional.ts"
import * as Page from "../schemas/Page.ts"
import { Validation } from "../middleware/Validation.ts"

const pattern = (what: string) =>
  optional(RoutePattern.FromText, `${what}: an address, \`*@domain\` or \`name+*@domain\``)

const Match = Schema.Struct({
  to: pattern("A recipient of the mail"),
  from: pattern("The sender in its header"),
  subject: optional(
    Schema.String.check(Checks.chars(Route.MAX_SUBJECT_CHARS, 1), Checks.oneLine),
    "Part of the subject, in any case",
  ),
  verdict: optional(State.SenderVerdict, "The finding of DMARC about the sender"),
}).annotate({
  identifier: "InboundRouteMatch",
  description: "Conditions that must all hold; a route without any is for every mail",
})
export type MatchPayload = typeof Match.Type

const ascii = Schema.isPattern(/^[ -~]*$/u, { message: "must be printable ASCII" })

const Action = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("webhook"),
    webhook_id: optional(
      Id.WebhookId,
      "The only webhook that is called; all that subscribe to `email.received` if absent",
    ),
  }),
  Schema.Struct({
    type: Schema.Literal("forward"),
    to: Schema.Array(Address.FromText)
      .check(Checks.items(1, Forward.MAX_TARGETS, "addresses"))
      .annotate({ description: `1 to ${Forward.MAX_TARGETS} addresses that the mail is sent on to` }),
  }),
  Schema.Struct({
    type: Schema.Literal("reject"),
    message: optional(
      Schema.String.check(Checks.chars(Route.MAX_MESSAGE_CHARS, 1), ascii),
      "Text of the reply 550 to its server",
    ),
  }),
  Schema.Struct({ type: Schema.Literal("drop") }),
  Schema.Struct({ type: Schema.Literal("store") }),
]).annotate({
  identifier: "InboundRouteAction",
  description:
    "`webhook` calls webhooks; `forward` sends the mail on as it came; `reject` refuses the mail in the session; `drop` accepts and records it, and nothing else; `store` records it without a call",
})
export type ActionPayload = typeof Action.Type

const Position = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Route.MAX_POSITION }))

const Creation = Schema.Struct({
  match: optional(Match, "For every mail if absent"),
  action: Action,
  position: optional(Position, "Routes are tried in the order of their positions; after all others if absent"),
  enabled: optional(Schema.Boolean, "`true` by default"),
  stop: optional(Schema.Boolean, "Whether no later route is tried once this one applied; `false` by default"),
}).annotate({ identifier: "InboundRouteCreation" })

const Change = Schema.Struct({
  match: optional(Match, "Replaces all conditions; `{}` is for every mail"),
  action: Schema.optionalKey(Action),
  position: Schema.optionalKey(Position),
  enabled: Schema.optionalKey(Schema.Boolean),
  stop: Schema.optionalKey(Schema.Boolean),
}).annotate({
  identifier: "InboundRouteChange",
  description: "Fields that are left out stay as they are; `match` and `action` are replaced as a whole",
})

export const RouteRecord = Schema.Struct({
  object: Schema.Literal("inbound_route"),
  id: Id.InboundRouteId,
  match: Schema.Struct({
    to: Schema.NullOr(Schema.String),
    from: Schema.NullOr(Schema.String),
    subject: Schema.NullOr(Schema.String),
    verdict: Schema.NullOr(State.SenderVerdict),
  }),
  action: Schema.Struct({
    type: State.Applied.fields.action,
    webhook_id: Schema.NullOr(Id.WebhookId),
    to: Schema.NullOr(Schema.Array(Address.Address)),
    message: Schema.NullOr(Schema.String),
  }),
  position: Schema.Natural,
  enabled: Schema.Boolean,
  stop: Schema.Boolean,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
}).annotate({ identifier: "InboundRoute" })
export type RouteRecord = typeof RouteRecord.Type

export const Deleted = Schema.Struct({
  object: Schema.Literal("inbound_route"),
  id: Id.InboundRouteId,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "InboundRouteDeleted" })

/** Maximum recipients of a mail that routes are tried with. */
const MAX_RECIPIENTS = 100

const Trial = Schema.Struct({
  to: Schema.Union([
    Address.FromText,
    Schema.Array(Address.FromText).check(Checks.items(1, MAX_RECIPIENTS, "addresses")),
  ]),
  from: Address.FromText,
  subject: optional(Schema.String.check(Checks.chars(Route.MAX_SUBJECT_CHARS), Checks.oneLine), "Empty if absent"),
  verdict: optional(State.SenderVerdict, "The finding of DMARC about the sender; `none` if absent"),
}).annotate({ identifier: "InboundRouteTrial" })
export type TrialPayload = typeof Trial.Type

export const Outcome = Schema.Struct({
  object: Schema.Literal("inbound_route_test"),
  status: State.InboundStatus.annotate({
    description: "The end that the mail would have",
  }),
  routes: Schema.Array(
    Schema.Struct({
      id: Id.InboundRouteId,
      action: State.Applied.fields.action,
      applies: Schema.Boolean,
      reason: Schema.String.annotate({ description: "Why the route applies, or why it does not" }),
    }),
  ).annotate({ description: "All routes, in the order in which they are tried" }),
}).annotate({ identifier: "InboundRouteTest" })

const params = { id: Id.InboundRouteId }
const scope = "inbound:write"

export class InboundRoutes extends HttpApiGroup.make("inboundRoutes")
  .add(
    HttpApiEndpoint.get("list", "/inbound/routes", { success: Page.of(RouteRecord) }).annotateMerge(
      annotate("List routes", scope, "All routes of the account, in the order in which they are tried."),
    ),
    HttpApiEndpoint.get("get", "/inbound/routes/:id", { params, success: RouteRecord }).annotateMerge(
      annotate("Get a route", scope, "The record of the route."),
    ),
    HttpApiEndpoint.post("create", "/inbound/routes", {
      headers: Idempotency.headers,
      payload: Creation,
      success: Idempotency.replayable(RouteRecord.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Create a route",
        scope,
        `All routes that match a mail apply in the order of their positions, until one with \`stop\`, or one that rejects or drops. Without a match, the mail is stored and every webhook that subscribes is called. An account has at most ${InboundRefusal.MAX_ROUTES} routes, else 422 \`too_many_routes\`.`,
      ),
    ),
    HttpApiEndpoint.patch("update", "/inbound/routes/:id", {
      params,
      payload: Change,
      success: RouteRecord,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Update a route",
        scope,
        "Changes what the route is for, what it does, its position, and whether it is enabled.",
      ),
    ),
    HttpApiEndpoint.delete("remove", "/inbound/routes/:id", { params, success: Deleted }).annotateMerge(
      annotate("Delete a route", scope, "It applies to no further mail."),
    ),
    HttpApiEndpoint.post("test", "/inbound/routes/test", {
      headers: Idempotency.headers,
      payload: Trial,
      success: Idempotency.replayable(Outcome),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate("Test routes", scope, "Says which routes would apply to a mail, and why. Nothing is recorded or sent."),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Inbound routes", description: "Rules for what happens to received mail." }),
  ) {}
