import { Schema } from "effect"
import * as Refusal from "../values/Refusal.ts"

/** Maximum number of invited and active members. Removed members do not count. */
export const MAX_MEMBERS = 200

export class MemberNotFound extends Refusal.of("MemberNotFound", 404, "member_not_found") {
  override readonly message = "No member with this id belongs to this account."
}

export class AlreadyMember extends Refusal.of("AlreadyMember", 422, "already_member")<{ readonly email: string }> {
  override readonly message = `${this.email} is already a member of this account.`
}

const RULES = {
  too_many_members: `An account has at most ${MAX_MEMBERS} members.`,
  // Only an owner can make another one.
  last_owner: "This is the account's last owner. Make another member an owner first.",
  // An operator can see every account, so an account must not change an operator's role or sign-in.
  member_is_operator:
    "This member is an operator of the instance. Only an operator can change their role or create a link for them. To remove them, run `waybill users operator --off` first.",
  // A link sets a password, so a link for an active member would take over their sign-in.
  member_has_joined:
    "Links are for members who have not signed in yet. An operator, or `waybill users password`, can replace a lost password.",
  // A key never grants more than its own permissions.
  owners_need_session:
    "An API key can manage members and viewers only. Sign in to the dashboard as an owner to invite, change or remove an owner.",
  key_is_restricted:
    "An API key with a domain, allowed addresses or an expiry cannot manage members, because these limits would not apply to them.",
} as const
export type TeamRule = keyof typeof RULES

/** A change that a rule of the team does not allow. `reason` names the rule. */
export class TeamRuleViolated extends Schema.TaggedError<TeamRuleViolated>()("TeamRuleViolated", {
  reason: Schema.Literals(Object.keys(RULES) as ReadonlyArray<TeamRule>),
}) {
  readonly status = 422
  override get message() {
    return RULES[this.reason]
  }
}
