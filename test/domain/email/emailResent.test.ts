import type * as Acceptance from "@waybill/domain/email/Acceptance"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import {
  after,
  ana,
  bob,
  command,
  cyd,
  deferral,
  facts,
  id,
  outcome,
  queued,
  sending,
  toThree,
  words,
} from "../values/examples.ts"

const givenRequest = (over: Partial<Acceptance.Context>, wanted: Partial<Acceptance.Command> = {}) =>
  given(Email).when(sending(facts(over), command(wanted)))
const messageOf = (...history: ReadonlyArray<Email.Event>) => {
  const { state } = given(Email, ...history)
  assert(state._tag === "Message")
  return state
}

describe("resending", () => {
  it("a resend goes to the recipients that the first email did not reach and is no longer sent to", () => {
    const history = happened(
      Email,
      [toThree()],
      outcome(after(1), "Failed"),
      EmailReport.recordDelivered(after(1), bob, words()),
      outcome(after(1), "Failed", cyd),
    )
    const again = Email.resendCommand(messageOf(...history))
    assert.deepStrictEqual([again.to, again.cc, again.bcc], [[{ address: ana }], [], [{ address: cyd }]])
    assert.strictEqual(again.resend_of, id("EmailId"))
    const second = given(Email).when(sending(facts({ emailId: id("EmailId", 2) }), again))
    second.appendsOnly("EmailQueued")
  })

  it("recipients whose server accepted the mail, or who complained, count as reached", () => {
    const history = happened(
      Email,
      [toThree()],
      outcome(after(1), "Sent"),
      EmailReport.recordDelivered(after(1), bob, words()),
      EmailReport.recordComplained(after(2), bob, "abuse"),
    )
    const again = Email.resendCommand(messageOf(...history))
    assert.deepStrictEqual([again.to, again.cc, again.bcc], [[], [], []])
  })

  it("a recipient for whom delivery is in progress gets no copy", () => {
    const history = happened(Email, [toThree()], deferral(after(1)), outcome(after(1), "Failed", cyd))
    const again = Email.resendCommand(messageOf(...history))
    assert.deepStrictEqual([again.to, again.cc, again.bcc], [[], [], [{ address: cyd }]])
  })

  it("a message names its first copies", () => {
    const copy = id("EmailId", 2)
    const [named] = Email.resent(messageOf(queued()), copy, after(1))
    assert.deepStrictEqual(named, { _tag: "EmailResent", copy_id: copy, at: after(1) })
    const many = Array.from({ length: Email.MAX_COPIES }, () => ({
      _tag: "EmailResent" as const,
      copy_id: copy,
      at: after(1),
    }))
    const message = messageOf(queued(), ...many)
    assert.lengthOf(message.copies ?? [], Email.MAX_COPIES)
    assert.deepStrictEqual(Email.resent(message, copy, after(2)), [])
  })

  const original = { recipients: 1, in_progress: 0, content_kept: true }
  it("a resend is refused when all recipients have the mail", () => {
    const history = happened(Email, [queued()], EmailReport.recordDelivered(after(1), ana, words()))
    givenRequest({ original }, Email.resendCommand(messageOf(...history))).refuses({
      status: 422,
      reason: "nothing_to_resend",
      message: "There is nothing to resend: 1 of 1 recipients have received this email.",
    })
  })

  it("a resend without content is refused, after the refusals of any message", () => {
    const gone = { ...original, content_kept: false }
    givenRequest({ original: gone }).refuses({ status: 422, reason: "content_expired" })
    givenRequest({ original: gone, domain: undefined }).refuses({ status: 422, reason: "content_expired" })
    givenRequest({ original: gone, quota: { used: 3000, limit: 3000 } }).refuses({
      status: 429,
      reason: "monthly_quota",
    })
    const key = { id: id("ApiKeyId"), domain: "other.test" as never }
    givenRequest({ original: gone, key }).refuses({ status: 403, reason: "domain_not_allowed" })
    givenRequest({ original, key }, { to: [], cc: [], bcc: [] }).refuses({ status: 403, reason: "domain_not_allowed" })
  })
})
