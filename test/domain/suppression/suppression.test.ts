import * as Suppression from "@waybill/domain/suppression/Suppression"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { address, after, id, NOW } from "../values/examples.ts"

const ana = address("Ana@Example.org")
const add = Suppression.add(NOW, id("SuppressionId"), ana, "hard_bounce", id("EmailId"))
const added = () => happened(Suppression, [], add)

describe("suppression", () => {
  it("an address is suppressed in lower case, with the message that caused it", () => {
    assert.strictEqual(Suppression.streamId(ana), "ana@example.org")
    given(Suppression)
      .when(add)
      .appends({
        _tag: "SuppressionAdded",
        suppression_id: id("SuppressionId"),
        address: address("ana@example.org"),
        reason: "hard_bounce",
        email_id: id("EmailId"),
        at: NOW,
      })
  })
  it("a suppression keeps its first reason", () => {
    const again = Suppression.add(after(1), id("SuppressionId", 2), ana, "complaint", null)
    const refusal = given(Suppression, ...added())
      .when(again)
      .refuses({
        status: 422,
        reason: "already_suppressed",
        message: "ana@example.org has been suppressed since 2026-11-21T09:00:00.000Z (hard_bounce).",
      })
    assert.strictEqual(refusal.suppression_id, id("SuppressionId"))
  })
  it("a suppression can be removed, and added again under a new id", () => {
    given(Suppression, ...added())
      .when(Suppression.remove(after(1)))
      .appends({
        _tag: "SuppressionRemoved",
        suppression_id: id("SuppressionId"),
        address: address("ana@example.org"),
        at: after(1),
      })
    const removed = happened(Suppression, added(), Suppression.remove(after(1)))
    given(Suppression, ...removed)
      .when(Suppression.remove(after(2)))
      .refuses({ status: 404, reason: "suppression_not_found" })
    given(Suppression, ...removed)
      .when(Suppression.add(after(2), id("SuppressionId", 2), ana, "manual", null))
      .leads((state) => {
        assert(state._tag === "Suppressed")
        assert.deepStrictEqual([state.suppression_id, state.reason], [id("SuppressionId", 2), "manual"])
      })
  })
})
