import * as Team from "@waybill/domain/account/Team"
import * as TeamRefusal from "@waybill/domain/account/TeamRefusal"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { address, after, id, NOW } from "../values/examples.ts"

const ana: Team.Invitation = { user_id: id("UserId"), email: address("ana@example.org"), name: "Ana", role: "owner" }
const bob: Team.Invitation = {
  user_id: id("UserId", 2),
  email: address("bob@example.org"),
  name: "Bob",
  role: "viewer",
}
const invited = happened(Team, [], Team.invite(NOW, ana))
const founded = [...invited, ...happened(Team, invited, Team.join(NOW, ana.user_id))]
const both = [...founded, ...happened(Team, founded, Team.invite(NOW, bob))]

describe("team", () => {
  it("an invited member joins at the first sign-in", () => {
    given(Team, ...founded)
      .when(Team.invite(NOW, bob))
      .appends({ _tag: "MemberInvited", ...bob, at: NOW })
    given(Team, ...both)
      .when(Team.join(after(1), bob.user_id))
      .leads((team) => assert.deepInclude(Team.find(team, bob.user_id), { status: "active", joined_at: after(1) }))
    given(Team, ...founded)
      .when(Team.join(after(1), ana.user_id))
      .refuses({ status: 422, reason: "nothing_new" })
    given(Team, ...founded)
      .when(Team.join(after(1), bob.user_id))
      .refuses({ status: 404, reason: "member_not_found" })
  })

  it("an address is a member once, in any case", () => {
    const again = { ...bob, user_id: id("UserId", 3), email: address("BOB@Example.org") }
    given(Team, ...both)
      .when(Team.invite(after(1), again))
      .refuses({ status: 422, reason: "already_member" })
  })

  it("the last active owner cannot be removed or changed", () => {
    const promoted = [...both, ...happened(Team, both, Team.changeRole(NOW, bob.user_id, "owner"))]
    for (const team of [both, promoted]) {
      given(Team, ...team)
        .when(Team.remove(NOW, ana.user_id))
        .refuses({ status: 422, reason: "last_owner" })
      given(Team, ...team)
        .when(Team.changeRole(NOW, ana.user_id, "member"))
        .refuses({ status: 422, reason: "last_owner" })
    }
    const joined = [...promoted, ...happened(Team, promoted, Team.join(NOW, bob.user_id))]
    given(Team, ...joined)
      .when(Team.remove(NOW, ana.user_id))
      .appends({ _tag: "MemberRemoved", user_id: ana.user_id, at: NOW })
  })

  it("changing to the same role and changing an unknown member are refused", () => {
    given(Team, ...both)
      .when(Team.changeRole(NOW, bob.user_id, "viewer"))
      .refuses({ status: 422, reason: "nothing_new" })
    given(Team, ...founded)
      .when(Team.remove(NOW, bob.user_id))
      .refuses({ status: 404, reason: "member_not_found" })
  })

  it("a removed member stays known and can be invited again", () => {
    const removed = [...both, ...happened(Team, both, Team.remove(NOW, bob.user_id))]
    given(Team, ...removed)
      .when(Team.changeRole(NOW, bob.user_id, "owner"))
      .refuses({ status: 404, reason: "member_not_found" })
    given(Team, ...removed)
      .when(Team.invite(after(1), bob))
      .leads((team) =>
        assert.deepStrictEqual(
          team.members.map(({ status }) => status),
          ["active", "invited"],
        ),
      )
  })

  it("the number of members is limited", () => {
    const many = Array.from({ length: TeamRefusal.MAX_MEMBERS }, (_, n) => ({
      _tag: "MemberInvited" as const,
      user_id: id("UserId", n),
      email: address(`m${n}@example.org`),
      name: "M",
      role: "viewer" as const,
      at: NOW,
    }))
    given(Team, ...many)
      .when(Team.invite(NOW, { ...bob, user_id: id("UserId", 255) }))
      .refuses({ status: 422, reason: "too_many_members" })
  })

  it("an operator's change of a sign-in is recorded and changes nothing in the team", () => {
    for (const [decide, _tag] of [
      [Team.setPassword, "MemberPasswordSet"],
      [Team.removeFactors, "MemberFactorsRemoved"],
    ] as const) {
      const decided = given(Team, ...both)
      decided.when(decide(after(1), bob.user_id)).appends({ _tag, user_id: bob.user_id, at: after(1) })
      decided
        .when(decide(after(1), bob.user_id))
        .leads((team) => assert.deepStrictEqual({ ...team, version: 0 }, { ...decided.state, version: 0 }))
      given(Team, ...founded)
        .when(decide(after(1), bob.user_id))
        .refuses({ status: 404, reason: "member_not_found" })
    }
  })
})
