import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/middleware/Authorization"
import type { ListedMember, Member } from "@waybill/api/groups/Members"
import type * as Aggregate from "@waybill/domain/values/Aggregate"
import type * as Id from "@waybill/domain/values/Id"
import * as Team from "@waybill/domain/account/Team"
import * as TeamRefusal from "@waybill/domain/account/TeamRefusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as StoredMembers from "@waybill/store/readmodels/Members"
import { Provenance } from "@waybill/store/log/Provenance"
import type { Append, Commit, View } from "@waybill/store/commit/Commit"
import * as Users from "@waybill/store/users/Users"
import { workOnStream } from "@waybill/store/commit/workOnStream"
import { Effect, Option, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import * as NewIds from "../../process/NewIds.ts"
import { LINK_HOURS } from "../../signIn/Options.ts"
import { Admitted } from "../../requests/Admitted.ts"
import * as RequestCommit from "../../accept/RequestCommit.ts"
import * as CallerReach from "../middleware/CallerReach.ts"
import * as Records from "../../web/Records.ts"
import { Sessions } from "../../signIn/Session.ts"
import * as Handlers from "../middleware/Handlers.ts"

export const MemberHandlers = HttpApiBuilder.group(Api, "members", (handlers) =>
  handlers.handleAll({
    session: Handlers.withKey(function* ({ account_id, domain, scopes }) {
      const { actor } = yield* Provenance
      const user = yield* signedIn
      const operator = user?.operator ?? false
      return { object: "session" as const, actor, account_id, role: user?.role ?? null, scopes, domain, operator }
    }),
    list: Handlers.withKey(function* ({ account_id }) {
      return Records.completeList((yield* StoredMembers.list(account_id)).map(listed))
    }),
    invite: (call) => invite(call, call.payload),
    changeRole: ({ params, payload }) => changeRole(params.id, payload.role),
    makeLink: (call) => dropEarlierLinks(RequestCommit.commit(call, newLink(call.params.id), RequestCommit.SEALED)),
    remove: ({ params }) => remove(params.id),
  }),
)

/** The signed-in user; `undefined` for an API key. */
const signedIn = Effect.map(Admitted, (admitted) =>
  admitted !== undefined && "user" in admitted ? admitted.user : undefined,
)

const listed = ({ last_seen_at, name, record, two_factor }: StoredMembers.ListedMember): ListedMember => ({
  ...(record as Member),
  name,
  two_factor,
  last_seen_at,
})

type Invitation = Omit<Team.Invitation, "user_id" | "name"> & { readonly name: string | null }

export const invite = (call: RequestCommit.Call, invitation: Invitation) =>
  withNewUser((user_id) =>
    dropEarlierLinks(RequestCommit.commit(call, invited(user_id, invitation), RequestCommit.SEALED)),
  )

/** Invites the first owner of a new account, in one commit with the account, so that no account is without an owner. */
export const inviteWithAccount = (call: RequestCommit.Call, invitation: Invitation, account: Append) =>
  withNewUser((user_id) =>
    dropEarlierLinks(
      RequestCommit.commit(call, Effect.map(invited(user_id, invitation), withAccount(account)), RequestCommit.SEALED),
    ),
  )

/** Deletes the user again if the invitation is refused. */
const withNewUser = <A, E, R>(work: (user_id: Id.UserId) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(NewIds.newId("UserId"), (user_id) =>
    Effect.tapError(work(user_id), (error) =>
      // The invitation may have been accepted.
      error instanceof StoreUnavailable ? Effect.void : Users.discard(user_id),
    ),
  )

/**
 * Returns how the caller manages the team. A key with a domain, address or expiry limit creates no sign-ins, because a
 * sign-in would exceed the key.
 */
const managedBy = Effect.gen(function* () {
  const user = yield* signedIn
  if (user !== undefined) return user.operator ? "operator" : "session"
  const { key_id } = yield* CurrentKey
  if (key_id === null) return "operator"
  const { allowed_ips, domain, expires_at } = yield* CallerReach.current
  const isRestricted = domain !== null || allowed_ips.length > 0 || expires_at !== null
  return isRestricted ? yield* new TeamRefusal.TeamRuleViolated({ reason: "key_is_restricted" }) : "key"
})

const withAccount =
  ({ aggregate, events, id }: Append) =>
  <A, E>(work: Pick<Commit<A, E>, "streams" | "decide">) => ({
    streams: [{ aggregate, id, isNew: true }, ...work.streams],
    decide: (view: View) =>
      Result.map(work.decide(view), (decision) => ({
        ...decision,
        append: [{ aggregate, id, events }, ...decision.append],
      })),
  })

/**
 * Creates a new user for every invitation, even if the address is known in other accounts, so that nothing about them
 * is revealed or changed. Whether the address is a member of this account is decided from the team's history.
 */
const invited = Effect.fnUntraced(function* (user_id: Id.UserId, { email, name, role }: Invitation) {
  const by = yield* managedBy
  const displayName = name ?? email.slice(0, email.lastIndexOf("@"))
  yield* Users.create({ id: user_id, email, name: displayName, operator: false, created_at: yield* NewIds.now })
  const invitation = { user_id, email, name: displayName, role }
  return yield* linked(user_id, (at) => Team.invite(at, invitation, by))
})

/** Changes a member's role. Earlier sign-in links are invalidated, because they would open the new role. */
const changeRole = Effect.fnUntraced(function* (id: Id.UserId, role: Team.Role) {
  const by = yield* managedBy
  yield* checkMember(by, id)
  const member = yield* RequestCommit.commitRepeatable(
    workOnStream(Team, Team.STREAM_ID, (at) => Team.changeRole(at, id, role, by), memberOf(id)),
  )
  yield* Users.dropLinks(id)
  return member
})

/**
 * Creates a sign-in link for a member. Its holder becomes that member, so the caller must be allowed to act for them.
 */
const newLink = Effect.fnUntraced(function* (id: Id.UserId) {
  const by = yield* managedBy
  const user = yield* signedIn
  yield* checkMember(by, id)
  // Refused, because a stolen session could set a new password with it.
  if (user?.user_id === id) return yield* new TeamRefusal.TeamRuleViolated({ reason: "member_has_joined" })
  return yield* linked(id, (at) => Team.makeLink(at, id, by))
})

/** Removes a member. An operator has to lose that role at the command line first; no account can remove an operator. */
const remove = Effect.fnUntraced(function* (id: Id.UserId) {
  const by = yield* managedBy
  yield* checkMember("session", id)
  yield* RequestCommit.commitRepeatable(
    workOnStream(
      Team,
      Team.STREAM_ID,
      (at) => Team.remove(at, id, by),
      () => undefined,
    ),
  )
  yield* Users.forgetSignIn(id)
  return { object: "member" as const, id, deleted: true as const }
})

/** Fails if the user is not a member of this account, or is an operator and the caller is not. */
const checkMember = Effect.fnUntraced(function* (by: Team.Actor, id: Id.UserId) {
  const member = yield* StoredMembers.find(id)
  const { account_id } = yield* CurrentKey
  if (Option.isNone(member) || member.value.account_id !== account_id) return yield* new TeamRefusal.MemberNotFound()
  if (member.value.operator && by !== "operator")
    return yield* new TeamRefusal.TeamRuleViolated({ reason: "member_is_operator" })
})

/** Invalidates earlier links once a new one is given out. */
const dropEarlierLinks = <A extends LinkAnswer, E, R>(answered: Effect.Effect<A, E, R>) =>
  Effect.tap(answered, ({ body, headers }) =>
    body.url === null || headers["idempotent-replayed"] !== undefined
      ? Effect.void
      : Users.dropLinksBefore(body.member.id, new URL(body.url).hash.slice(1)),
  )
interface LinkAnswer {
  readonly body: { readonly member: Member; readonly url: string | null }
  readonly headers: { readonly "idempotent-replayed"?: "true" }
}

/**
 * Creates the link before the decision and answers with it only if the decision succeeds; an unused link opens nothing.
 */
const linked = Effect.fnUntraced(function* <E>(
  id: Id.UserId,
  decide: (at: Timestamp.Timestamp) => Aggregate.Decide<Team.State, Team.Event, E>,
) {
  const signIn = yield* Sessions
  const url = signIn === undefined ? null : yield* signIn.link(id)
  const expires_at = Timestamp.plus(yield* NewIds.now, LINK_HOURS * 60 * Timestamp.MINUTE)
  const answer = (team: Team.State) => ({ object: "member_link" as const, member: memberOf(id)(team), url, expires_at })
  return workOnStream(Team, Team.STREAM_ID, decide, answer)
})

const memberOf =
  (user_id: Id.UserId) =>
  (team: Team.State): Member => {
    const member = Team.find(team, user_id)
    if (member === undefined || member.status === "removed")
      throw new Error("decided about a member that does not exist")
    const { email, invited_at, joined_at, name, role, status } = member
    return { object: "member", id: user_id, email, name, role, status, invited_at, joined_at }
  }
