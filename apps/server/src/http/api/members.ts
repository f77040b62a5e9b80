import { Api } from "@waybill/api/Api"
import { CurrentKey } from "@waybill/api/Authorization"
import type { ListedMember, Member } from "@waybill/api/groups/Members"
import type * as Aggregate from "@waybill/domain/stream/Aggregate"
import type * as Id from "@waybill/domain/values/Id"
import * as Team from "@waybill/domain/account/Team"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as StoredMembers from "@waybill/store/readmodels/Members"
import { Provenance } from "@waybill/store/commit/Provenance"
import type { Append, Unit, View } from "@waybill/store/commit/Commit"
import * as Users from "@waybill/store/users/Users"
import { Effect, Option, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { newId, now } from "../../operate/fresh.ts"
import { LINK_HOURS } from "../../signIn/Options.ts"
import { Admitted } from "../middleware/Admitted.ts"
import { about, type Call, commit, onceSealed } from "../../accept/commitRequest.ts"
import { reachOfCaller } from "../middleware/keyReach.ts"
import { whole } from "./records.ts"
import { Sessions } from "../middleware/Session.ts"

export const MembersLive = HttpApiBuilder.group(Api, "members", (handlers) =>
  handlers.handleAll({
    session: () =>
      Effect.gen(function* () {
        const { account_id, domain, scopes } = yield* CurrentKey
        const { actor } = yield* Provenance
        const user = yield* signedIn
        const operator = user?.operator ?? false
        return { object: "session" as const, actor, account_id, role: user?.role ?? null, scopes, domain, operator }
      }),
    list: () =>
      Effect.gen(function* () {
        const { account_id } = yield* CurrentKey
        return whole((yield* StoredMembers.list(account_id)).map(listed))
      }),
    invite: (call) => invite(call, call.payload),
    changeRole: ({ params, payload }) => changed(params.id, payload.role),
    makeLink: (call) => told(onceSealed(call, newLink(call.params.id))),
    remove: ({ params }) => removed(params.id),
  }),
)

/** Nobody, where a key asks. */
const signedIn = Effect.map(Admitted, (admitted) =>
  admitted !== undefined && "user" in admitted ? admitted.user : undefined,
)

const listed = ({ last_seen_at, name, record, two_factor }: StoredMembers.Listed): ListedMember => ({
  ...(record as Member),
  name,
  two_factor,
  last_seen_at: last_seen_at as Timestamp.Timestamp | null,
})

type Invitation = Omit<Team.Invitation, "user_id" | "name"> & { readonly name: string | null }

export const invite = (call: Call, invitation: Invitation) =>
  inviting((user_id) => told(onceSealed(call, invited(user_id, invitation))))

/** The same in one commit with the account that is the invited owner's, so that there is none which nobody owns. */
export const found = (call: Call, invitation: Invitation, account: Append) =>
  inviting((user_id) => told(onceSealed(call, Effect.map(invited(user_id, invitation), foundedBy(account)))))

/** An invitation that is refused leaves no user behind. */
const inviting = <A, E, R>(work: (user_id: Id.UserId) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(newId("UserId"), (user_id) => Effect.tapError(work(user_id), () => Users.discard(user_id)))

/** Who manages the team. What a key makes is never more than the key, so one with limits of its own makes no sign-ins. */
const manager = Effect.gen(function* () {
  const user = yield* signedIn
  if (user !== undefined) return user.operator ? "operator" : "session"
  const { key_id } = yield* CurrentKey
  if (key_id === null) return "operator"
  const { allowed_ips, domain, expires_at } = yield* reachOfCaller
  const isRestricted = domain !== null || allowed_ips.length > 0 || expires_at !== null
  return isRestricted ? yield* new Team.TeamRuleViolated({ reason: "key_is_restricted" }) : "key"
})

const foundedBy =
  ({ aggregate, events, id }: Append) =>
  <A, E>(work: Pick<Unit<A, E>, "streams" | "decide">) => ({
    streams: [{ aggregate, id, fresh: true }, ...work.streams],
    decide: (view: View) =>
      Result.map(work.decide(view), (decision) => ({
        ...decision,
        append: [{ aggregate, id, events }, ...decision.append],
      })),
  })

/**
 * Every invitation is a user of its own, whatever other accounts know of the address: so nothing is told about them, and
 * nothing is taken from them. Whether the address is in this very account is decided with the team's history.
 */
const invited = Effect.fnUntraced(function* (user_id: Id.UserId, { email, name, role }: Invitation) {
  const by = yield* manager
  const called = name ?? email.slice(0, email.lastIndexOf("@"))
  yield* Users.create({ id: user_id, email, name: called, operator: false, created_at: yield* now })
  const invitation = { user_id, email, name: called, role }
  return yield* linked(user_id, (at) => Team.invite(at, invitation, by))
})

/** Links from before the change would open the new role. */
const changed = Effect.fnUntraced(function* (id: Id.UserId, role: Team.Role) {
  const by = yield* manager
  yield* keptFrom(by, id)
  const member = yield* commit(about(Team, Team.STREAM_ID, (at) => Team.changeRole(at, id, role, by), memberOf(id)))
  yield* Users.dropLinks(id)
  return member
})

/** Whoever opens a link becomes that member, so it is made only for whom the caller may stand in. */
const newLink = Effect.fnUntraced(function* (id: Id.UserId) {
  const by = yield* manager
  const user = yield* signedIn
  yield* keptFrom(by, id)
  // A session that was stolen would become the user's password.
  if (user?.user_id === id) return yield* new Team.TeamRuleViolated({ reason: "member_has_joined" })
  return yield* linked(id, (at) => Team.makeLink(at, id, by))
})

/** An operator is first made none, by whoever has the instance's command line: no account takes that from them. */
const removed = Effect.fnUntraced(function* (id: Id.UserId) {
  const by = yield* manager
  yield* keptFrom("session", id)
  yield* commit(
    about(
      Team,
      Team.STREAM_ID,
      (at) => Team.remove(at, id, by),
      () => undefined,
    ),
  )
  yield* Users.forgetSignIn(id)
  return { object: "member" as const, id, deleted: true as const }
})

/** Refuses who is no member of this account, and an operator's membership to everybody but operators. */
const keptFrom = Effect.fnUntraced(function* (by: Team.By, id: Id.UserId) {
  const member = yield* StoredMembers.find(id)
  const { account_id } = yield* CurrentKey
  if (Option.isNone(member) || member.value.account_id !== account_id) return yield* new Team.MemberNotFound()
  if (member.value.operator && by !== "operator")
    return yield* new Team.TeamRuleViolated({ reason: "member_is_operator" })
})

/** From when a new link is told of, those from before open nothing. */
const told = <A extends Told, E, R>(answered: Effect.Effect<A, E, R>) =>
  Effect.tap(answered, ({ body, headers }) =>
    body.url === null || headers["idempotent-replayed"] !== undefined
      ? Effect.void
      : Users.dropLinksBefore(body.member.id, new URL(body.url).hash.slice(1)),
  )
interface Told {
  readonly body: { readonly member: Member; readonly url: string | null }
  readonly headers: { readonly "idempotent-replayed"?: "true" }
}

/** The link is made before the decision, and told only if that is taken: a link that nobody was told of opens nothing. */
const linked = Effect.fnUntraced(function* <E>(
  id: Id.UserId,
  decide: (at: Timestamp.Timestamp) => Aggregate.Decide<Team.State, Team.Event, E>,
) {
  const signIn = yield* Sessions
  const url = signIn === undefined ? null : yield* signIn.link(id)
  const expires_at = Timestamp.plus(yield* now, LINK_HOURS * 60 * Timestamp.MINUTE)
  const answer = (team: Team.State) => ({ object: "member_link" as const, member: memberOf(id)(team), url, expires_at })
  return about(Team, Team.STREAM_ID, decide, answer)
})

const memberOf =
  (user_id: Id.UserId) =>
  (team: Team.State): Member => {
    const member = Team.find(team, user_id)
    if (member === undefined || member.status === "removed") throw new Error("decided about a member who is not there")
    const { email, invited_at, joined_at, name, role, status } = member
    return { object: "member", id: user_id, email, name, role, status, invited_at, joined_at }
  }
