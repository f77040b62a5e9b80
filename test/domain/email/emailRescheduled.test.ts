import * as Email from "@waybill/domain/email/Email"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { after, NOW, queued } from "../values/examples.ts"

const { DAY } = Timestamp

describe("rescheduling", () => {
  it("a queued email is rescheduled", () => {
    const moved = given(Email, queued({ scheduled_at: after(DAY) })).when(Email.reschedule(after(1), after(2 * DAY)))
    moved.appends({ _tag: "EmailRescheduled", scheduled_at: after(2 * DAY), at: after(1) })
    moved.leads((email) => {
      assert(email._tag === "Message")
      assert.strictEqual(email.scheduled_at, after(2 * DAY))
      assert.strictEqual(email.accepted.scheduled_at, after(DAY))
    })
  })
  it("rescheduling to the same time changes nothing", () => {
    const moved = happened(Email, [queued()], Email.reschedule(after(1), after(DAY)))
    given(Email, ...moved)
      .when(Email.reschedule(after(2), after(DAY)))
      .refuses({ status: 422, reason: "nothing_new" })
  })
  it("an email can be rescheduled a limited number of times", () => {
    const moved = (scheduled_at: Timestamp.Timestamp) => ({ _tag: "EmailRescheduled" as const, scheduled_at, at: NOW })
    const before = Array.from({ length: Email.MAX_RESCHEDULES - 1 }, (_, nth) => moved(after(DAY + nth)))
    given(Email, queued(), ...before)
      .when(Email.reschedule(NOW, after(2 * DAY)))
      .appendsOnly("EmailRescheduled")
    given(Email, queued(), ...before, moved(after(2 * DAY)))
      .when(Email.reschedule(NOW, after(DAY)))
      .refuses({ status: 422, reason: "rescheduled_too_often" })
  })
  it("a new time has the range of the first schedule", () => {
    given(Email, queued())
      .when(Email.reschedule(NOW, after(31 * DAY)))
      .refuses({ status: 422, reason: "scheduled_at_out_of_range" })
  })
})
