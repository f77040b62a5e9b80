import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Scope from "@waybill/domain/account/Scope"
import * as Team from "@waybill/domain/account/Team"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as ApiError from "../errors/ApiError.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { annotate } from "../middleware/annotate.ts"
import { Actor } from "../schemas/EventRecord.ts"
import * as Idempotency from "../schemas/Idempotency.ts"
import { optional } from "../schemas/optional.ts"
import * as Page from "../schemas/Page.ts"
import { Validation } from "../middleware/Validation.ts"

const at = Timestamp.Timestamp

const fields = {
  object: Schema.Literal("member"),
  id: Id.UserId,
  email: Schema.String,
  name: Schema.String.annotate({ examples: ["Ana"] }),
  role: Team.Role,
  status: Schema.Literals(["invited", "active"]),
  invited_at: at,
  joined_at: Schema.NullOr(at),
}

/** A user who signs in to the dashboard for this account. */
export const Member = Schema.Struct(fields).annotate({ identifier: "Member" })
export type Member = typeof Member.Type

export const ListedMember = Schema.Struct({
  ...fields,
  two_factor: Schema.Boolean.annotate({ description: "Whether a second factor or a passkey is set up" }),
  last_seen_at: Schema.NullOr(at),
}).annotate({ identifier: "ListedMember" })
export type ListedMember = typeof ListedMember.Type

export const Link = Schema.Struct({
  object: Schema.Literal("member_link"),
  member: Member,
  url: Schema.NullOr(Schema.String).annotate({
    description: "Opens a page that sets the member's password. Shown only once; share it over a secure channel.",
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
  name: optional(Team.Name, "Display name"),
  role: Team.Role,
}).annotate({ identifier: "MemberInvitation" })

/** The caller: a key or a dashboard session. */
export const Session = Schema.Struct({
  object: Schema.Literal("session"),
  actor: Actor,
  account_id: Id.AccountId,
  role: Schema.NullOr(Team.Role).annotate({ description: "`null` for a key" }),
  scopes: Schema.Array(Scope.Scope),
  domain: Schema.NullOr(Schema.String).annotate({ description: "The domain that the key is bound to; `null` if none" }),
  operator: Schema.Boolean.annotate({
    description: "Whether the user operates this instance and can see every account",
  }),
}).annotate({ identifier: "Session" })
export type Session = typeof Session.Type

const params = { id: Id.UserId }
const headers = Idempotency.headers

export class Members extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("session", "/session", { success: Session }).annotateMerge(
      annotate("Get the current session", "any key", "The identity and permissions of this key or dashboard session."),
    ),
    HttpApiEndpoint.get("list", "/members", { success: Page.of(ListedMember) }).annotateMerge(
      annotate("List members", "admin", "Users who sign in to the dashboard for this account."),
    ),
    HttpApiEndpoint.post("invite", "/members", {
      headers,
      payload: Invitation,
      success: Idempotency.replayable(Link.pipe(HttpApiSchema.status(201))),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Invite a member",
        "admin",
        "The response contains a link for the member, which works once within three days. It does not reveal whether the " +
          "address belongs to a member of another account. A key can invite members and viewers; only a signed-in owner " +
          "can invite an owner. A key with a domain, allowed addresses or an expiry cannot manage members.",
      ),
    ),
    HttpApiEndpoint.patch("changeRole", "/members/:id", {
      params,
      payload: Schema.Struct({ role: Team.Role }),
      success: Member,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Change a member's role",
        "admin",
        "The last owner cannot be changed. Only a signed-in owner can add or remove the owner role, and only an operator can " +
          "change an operator. The member's earlier links stop working.",
      ),
    ),
    HttpApiEndpoint.post("makeLink", "/members/:id/link", {
      params,
      headers,
      success: Idempotency.replayable(Link),
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Create a new sign-in link for a member",
        "admin",
        "For a member who has not signed in yet; earlier links stop working. Only an operator can create a link for a member " +
          "who has signed in, to replace a lost password. Nobody can create a link for themselves.",
      ),
    ),
    HttpApiEndpoint.delete("remove", "/members/:id", {
      params,
      success: Removed,
      error: ApiError.Unprocessable,
    }).annotateMerge(
      annotate(
        "Remove a member",
        "admin",
        "Ends the member's sessions and deletes their password, factors and links. An operator cannot be removed, and only " +
          "a signed-in owner can remove an owner.",
      ),
    ),
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Members", description: "Users of the dashboard." })) {}
