import { Array, Result, Schema } from "effect"
import * as Address from "../values/Address.ts"
import type * as Aggregate from "../values/Aggregate.ts"
import * as Id from "../values/Id.ts"
import { NothingNew } from "../values/Refusal.ts"
import type * as Scope from "./Scope.ts"
import * as TeamRefusal from "./TeamRefusal.ts"
import * as Text from "../values/Text.ts"
import * as Timestamp from "../values/Timestamp.ts"

export const stream = "team" as const

/** One stream per account, because the rule "at least one owner" concerns all members at once. */
export const STREAM_ID = "team"

export const MAX_NAME_CHARS = 100
/**
 * Number of events after which the state forgets a removed member, so that a team can have any number of former ones.
 * More than the commits of one batch append to a team.
 */
export const REMEMBERED_EVENTS = 256
export const Name = Text.name(MAX_NAME_CHARS)

export const Role = Schema.Literals(["owner", "member", "viewer"]).annotate({ identifier: "MemberRole" })
export type Role = typeof Role.Type

/** Scopes of a session by role, in terms of API key scopes. */
export const SCOPES: { readonly [R in Role]: ReadonlyArray<Scope.Scope> } = {
  owner: ["admin"],
  member: [
    "email:send",
    "email:logs:read",
    "domains:read",
    "domains:write",
    "webhooks:manage",
    "inbound:read",
    "inbound:write",
    "templates:read",
    "templates:write",
  ],
  viewer: ["email:logs:read", "domains:read", "inbound:read", "templates:read"],
}

const at = Timestamp.Timestamp
const user_id = Id.UserId

export const Event = Schema.TaggedUnion({
  MemberInvited: { user_id, email: Address.Address, name: Text.Stored, role: Role, at },
  MemberJoined: { user_id, at },
  MemberRoleChanged: { user_id, role: Role, at },
  /**
   * A link was made that sets the member's password. The log records it, because the link gives access to the account.
   */
  MemberLinkMade: { user_id, at },
  /** An operator set a new password. The event does not hold it. */
  MemberPasswordSet: { user_id, at },
  /** An operator removed the authenticator, the recovery codes and the passkeys. */
  MemberFactorsRemoved: { user_id, at },
  MemberRemoved: { user_id, at },
})
export type Event = typeof Event.Type

export const Status = Schema.Literals(["invited", "active", "removed"])
export type Status = typeof Status.Type

export interface Member {
  readonly user_id: Id.UserId
  readonly email: Address.Address
  readonly name: string
  readonly role: Role
  readonly status: Status
  readonly invited_at: Timestamp.Timestamp
  readonly joined_at: Timestamp.Timestamp | null
  /** Number of the last event that changed this member. */
  readonly version: number
}

export interface State {
  readonly _tag: "Team"
  /** Number of events in the stream. */
  readonly version: number
  readonly members: ReadonlyArray<Member>
  /** Members that one of the last `REMEMBERED_EVENTS` events removed, whose rows in the read model are to be marked. */
  readonly former: ReadonlyArray<Member>
}

export const initial: State = { _tag: "Team", version: 0, members: [], former: [] }

export const evolve = (team: State, event: Event): State => {
  const { members } = team
  const { user_id } = event
  const version = team.version + 1
  const others = members.filter((member) => member.user_id !== user_id)
  const former = team.former.filter((each) => each.version > version - REMEMBERED_EVENTS)
  if (event._tag === "MemberInvited") {
    const { at, email, name, role } = event
    const invited: Member = { user_id, email, name, role, status: "invited", invited_at: at, joined_at: null, version }
    return {
      ...team,
      version,
      members: [...others, invited],
      former: former.filter((each) => each.user_id !== user_id),
    }
  }
  const member = members.find((each) => each.user_id === user_id)
  if (member === undefined) return { ...team, version, members, former }
  const changed = { ...member, version }
  switch (event._tag) {
    case "MemberJoined":
      return {
        ...team,
        version,
        members: replace(members, { ...changed, status: "active", joined_at: event.at }),
        former,
      }
    case "MemberRoleChanged":
      return { ...team, version, members: replace(members, { ...changed, role: event.role }), former }
    case "MemberLinkMade":
    case "MemberPasswordSet":
    case "MemberFactorsRemoved":
      return { ...team, version, members, former }
    case "MemberRemoved":
      return { ...team, version, members: others, former: [...former, { ...changed, status: "removed" }] }
  }
}

const replace = (members: ReadonlyArray<Member>, changed: Member): ReadonlyArray<Member> =>
  members.map((member) => (member.user_id === changed.user_id ? changed : member))

export const find = ({ members }: State, user_id: Id.UserId): Member | undefined =>
  members.find((member) => member.user_id === user_id)

type Decide<Error> = Aggregate.Decide<State, Event, Error>

const ruleViolated = (reason: TeamRefusal.TeamRule) => Result.fail(new TeamRefusal.TeamRuleViolated({ reason }))

/** Actor of a change. A "session" is always an owner's, because other roles cannot manage members. */
export type Actor = "key" | "session" | "operator"

export interface Invitation {
  readonly user_id: Id.UserId
  readonly email: Address.Address
  readonly name: string
  readonly role: Role
}

export const invite =
  (
    now: Timestamp.Timestamp,
    invitation: Invitation,
    by: Actor = "session",
  ): Decide<TeamRefusal.AlreadyMember | TeamRefusal.TeamRuleViolated> =>
  ({ members }) => {
    if (by === "key" && invitation.role === "owner") return ruleViolated("owners_need_session")
    if (members.some((member) => Address.keyOf(member.email) === Address.keyOf(invitation.email)))
      return Result.fail(new TeamRefusal.AlreadyMember({ email: invitation.email }))
    if (members.length >= TeamRefusal.MAX_MEMBERS) return ruleViolated("too_many_members")
    return Result.succeed(Array.of<Event>({ _tag: "MemberInvited", ...invitation, at: now }))
  }

/** Records the first sign-in. */
export const join =
  (now: Timestamp.Timestamp, user_id: Id.UserId): Decide<TeamRefusal.MemberNotFound | NothingNew> =>
  (team) => {
    const member = find(team, user_id)
    if (member === undefined) return Result.fail(new TeamRefusal.MemberNotFound())
    return member.status === "active"
      ? Result.fail(new NothingNew())
      : Result.succeed(Array.of<Event>({ _tag: "MemberJoined", user_id, at: now }))
  }

/** Invited owners do not count, because they cannot sign in yet. */
const isLastOwner = ({ members }: State, member: Member): boolean =>
  member.role === "owner" &&
  member.status === "active" &&
  members.filter((each) => each.role === "owner" && each.status === "active").length === 1

export const changeRole =
  (
    now: Timestamp.Timestamp,
    user_id: Id.UserId,
    role: Role,
    by: Actor = "session",
  ): Decide<TeamRefusal.MemberNotFound | NothingNew | TeamRefusal.TeamRuleViolated> =>
  (team) => {
    const member = find(team, user_id)
    if (member === undefined) return Result.fail(new TeamRefusal.MemberNotFound())
    if (by === "key" && (role === "owner" || member.role === "owner")) return ruleViolated("owners_need_session")
    if (member.role === role) return Result.fail(new NothingNew())
    return isLastOwner(team, member)
      ? ruleViolated("last_owner")
      : Result.succeed(Array.of<Event>({ _tag: "MemberRoleChanged", user_id, role, at: now }))
  }

export const remove =
  (
    now: Timestamp.Timestamp,
    user_id: Id.UserId,
    by: Actor = "session",
  ): Decide<TeamRefusal.MemberNotFound | TeamRefusal.TeamRuleViolated> =>
  (team) => {
    const member = find(team, user_id)
    if (member === undefined) return Result.fail(new TeamRefusal.MemberNotFound())
    if (by === "key" && member.role === "owner") return ruleViolated("owners_need_session")
    return isLastOwner(team, member)
      ? ruleViolated("last_owner")
      : Result.succeed(Array.of<Event>({ _tag: "MemberRemoved", user_id, at: now }))
  }

/** Records a change to a member's sign-in; the team itself stays the same. */
const recordSignInChange =
  (_tag: "MemberLinkMade" | "MemberPasswordSet" | "MemberFactorsRemoved") =>
  (now: Timestamp.Timestamp, user_id: Id.UserId): Decide<TeamRefusal.MemberNotFound> =>
  (team) =>
    find(team, user_id) === undefined
      ? Result.fail(new TeamRefusal.MemberNotFound())
      : Result.succeed(Array.of<Event>({ _tag, user_id, at: now }))

/**
 * Makes a link that sets a password. Decided from the history, so that a member who joined in the meantime cannot be
 * taken over.
 */
export const makeLink =
  (
    now: Timestamp.Timestamp,
    user_id: Id.UserId,
    by: Actor = "session",
  ): Decide<TeamRefusal.MemberNotFound | TeamRefusal.TeamRuleViolated> =>
  (team) => {
    const member = find(team, user_id)
    if (member !== undefined && by !== "operator" && member.status === "active")
      return ruleViolated("member_has_joined")
    if (member !== undefined && by === "key" && member.role === "owner") return ruleViolated("owners_need_session")
    return recordSignInChange("MemberLinkMade")(now, user_id)(team)
  }
export const setPassword = recordSignInChange("MemberPasswordSet")
export const removeFactors = recordSignInChange("MemberFactorsRemoved")
