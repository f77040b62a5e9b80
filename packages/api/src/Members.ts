import * as Address from "@waybill/domain/Address"
import * as Id from "@waybill/domain/Id"
import * as Scope from "@waybill/domain/Scope"
import * as Team from "@waybill/domain/Team"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "./ApiError.ts"
import { Authorization } from "./Authorization.ts"
import { about } from "./Endpoint.ts"
import { Actor } from "./EventRecord.ts"
import * as Idempotency from "./Idempotency.ts"
import { optional } from "./Optional.ts"
import * as Page from "./Page.ts"
import { Validation } from "./Validation.ts"

const at = Timestamp.Timestamp

const fields = {
  object: Schema.Literal("member"),
  id: Id.UserId,
  email: Schema.String,
  name: Schema.String,
  role: Team.Role,
  status: Schema.Literals(["invited", "active"]),
  invited_at: at,
  joined_at: Schema.NullOr(at),
}

/** Somebody who signs in to the dashboard for this account. */
export const Member = Schema.Struct(fields).annotate({ identifier: "Member" })
export type Member = typeof Member.Type

export const ListedMember = Schema.Struct({
  ...fields,
  two_factor: Schema.Boolean.annotate({ description: "A second factor or a passkey is set up" }),
  last_seen_at: Schema.NullOr(at),
}).annotate({ identifier: "ListedMember" })
export type ListedMember = typeof ListedMember.Type

export const Link = Schema.Struct({
  object: Schema.Literal("member_link"),
  member: Member,
  url: Schema.NullOr(Schema.String).annotate({
    description: "Whoever opens it sets the member's password. Shown here and never again; hand it over yourself.",
  }),
  expires_at: at,
}).annotate({ identifier: "MemberLink" })

export const Removed = Schema.Struct({
  object: Schema.Literal("member"),
  id: Id.UserId,
  deleted: Schema.Literal(true),
}).annotate({ identifier: "MemberRemoved" })

const Invitation = Schema.Struct({
  email: Address.FromText,
  name: optional(Team.Name, "What to call them"),
  role: Team.Role,
}).annotate({ identifier: "MemberInvitation" })

/** Who is asking, whoever it is. */
export const Session = Schema.Struct({
  object: Schema.Literal("session"),
  actor: Actor,
  account_id: Id.AccountId,
  role: Schema.NullOr(Team.Role).annotate({ description: "`null` for a key" }),
  scopes: Schema.Array(Scope.Scope),
  domain: Schema.NullOr(Schema.String).annotate({ description: "The one domain a key is bound to" }),
  operator: Schema.Boolean.annotate({ description: "Runs the instance, and may see all of it" }),
}).annotate({ identifier: "Session" })
export type Session = typeof Session.Type

const params = { id: Id.UserId }
const headers = Idempotency.headers

export class Members extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("session", "/session", { success: Session }).annotateMerge(
      about("See who is asking", "any key", "What this key, or this session of the dashboard, may do."),
    ),
    HttpApiEndpoint.get("list", "/members", { success: Page.of(ListedMember) }).annotateMerge(
      about("List members", "admin", "Who signs in to the dashboard for this account."),
    ),
    HttpApiEndpoint.post("invite", "/members", {
      headers,
      payload: Invitation,
      success: Idempotency.replayable(Link.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Invite a member",
        "admin",
        "The answer holds a link for them, which is good once and for three days. It is the same whether or not the " +
          "address belongs to a member of another account. A key invites members and viewers; only a signed-in owner " +
          "invites an owner. A key with a domain, allowed addresses or an expiry manages no members.",
      ),
    ),
    HttpApiEndpoint.patch("changeRole", "/members/:id", {
      params,
      payload: Schema.Struct({ role: Team.Role }),
      success: Member,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Change a member's role",
        "admin",
        "The last owner stays one. Only a signed-in owner changes somebody into or from an owner, and only an operator " +
          "changes an operator. Links that were made before the change end.",
      ),
    ),
    HttpApiEndpoint.post("makeLink", "/members/:id/link", {
      params,
      headers,
      success: Idempotency.replayable(Link),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Make a member a new link",
        "admin",
        "For a member who has not signed in yet; the links from before end. Only an operator makes a link for somebody who " +
          "signs in already, which replaces a lost password, and nobody makes one for themselves.",
      ),
    ),
    HttpApiEndpoint.delete("remove", "/members/:id", {
      params,
      success: Removed,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      about(
        "Remove a member",
        "admin",
        "Their sessions end at once, and their password, factors and links are gone. An operator stays, and only a " +
          "signed-in owner removes an owner.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Members", description: "Who signs in to the dashboard." })) {}
