import * as Email from "@waybill/domain/email/Email"
import type * as EmailState from "@waybill/domain/email/EmailState"
import * as EmailEvent from "@waybill/domain/email/EmailEvent"
import * as EmailStatus from "@waybill/domain/email/EmailStatus"
import { Arbitrary, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { ana, bob, cyd, toThree } from "../values/examples.ts"

const of = (...statuses: ReadonlyArray<EmailStatus.Status>) =>
  EmailStatus.ofRecipients(statuses.map((status) => ({ status })))

describe("message status", () => {
  it.for<[EmailStatus.Status, ...ReadonlyArray<EmailStatus.Status>]>([
    ["complained", "delivered", "deferred", "complained"],
    ["deferred", "queued", "deferred", "sent"],
    ["queued", "sent", "queued", "bounced"],
    ["sent", "delivered", "sent", "bounced"],
    ["delivered", "bounced", "delivered", "failed", "suppressed", "canceled"],
    ["bounced", "canceled", "failed", "bounced"],
    ["failed", "suppressed", "failed"],
    ["suppressed", "canceled", "suppressed"],
    ["canceled", "canceled"],
  ])("the status is %s", ([expected, ...recipients]) => assert.strictEqual(of(...recipients), expected))

  it.prop(
    "the status depends on the recipients' statuses, not on their order",
    { statuses: Arbitrary.array(Arbitrary.schema(EmailStatus.Status), { minLength: 1, maxLength: 6 }) },
    ({ statuses }) =>
      of(...statuses) === of(...statuses.toReversed()) && of(...statuses) === of(...statuses.toSorted()),
  )

  it.prop(
    "the status is that of one of the recipients",
    { statuses: Arbitrary.array(Arbitrary.schema(EmailStatus.Status), { minLength: 1, maxLength: 6 }) },
    ({ statuses }) => statuses.includes(of(...statuses)),
  )

  it("a status is final unless the service may still change it", () => {
    const open = EmailStatus.ALL.filter((status) => !EmailStatus.isFinal(status))
    assert.sameMembers(open, ["queued", "deferred", "sent"])
  })

  it("the number of recipients is counted per status", () => {
    const counted = EmailStatus.counts([{ status: "delivered" }, { status: "bounced" }, { status: "delivered" }])
    assert.deepStrictEqual(counted, { delivered: 2, bounced: 1 })
  })
})

const people = [ana, bob, cyd]
const { EmailQueued: _, ...others } = EmailEvent.Event.cases
const AnyButQueued = Schema.Union(Object.values(others))

/** Events that may contradict each other, but name recipients of the message. */
const histories = Arbitrary.map(
  Arbitrary.array(Arbitrary.all([Arbitrary.schema(AnyButQueued), Arbitrary.schema(Schema.Literals([0, 1, 2]))]), {
    maxLength: 12,
  }),
  (pairs): ReadonlyArray<Email.Event> =>
    pairs.map(
      ([event, who]) => ("recipient" in event ? { ...event, recipient: people[who] ?? ana } : event) as Email.Event,
    ),
)

const fold = (events: ReadonlyArray<Email.Event>): EmailState.AcceptedEmail => {
  const state = [toThree(), ...events].reduce(Email.evolve, Email.initial)
  assert(state._tag === "Message")
  return state
}

describe("any history", () => {
  const RUNS = { arbitrary: { runs: 500 } }

  it.prop(
    "folding never throws and keeps every recipient",
    { events: histories },
    ({ events }) => {
      assert.deepStrictEqual(
        fold(events).recipients.map(({ address }) => address),
        people,
      )
    },
    RUNS,
  )

  it.prop(
    "nothing at all happens before a message is queued",
    { events: histories },
    ({ events }) => {
      assert.strictEqual(events.reduce(Email.evolve, Email.initial), Email.initial)
    },
    RUNS,
  )

  it.prop(
    "no final recipient becomes unfinished again",
    { events: histories },
    ({ events }) => {
      let before = fold([]).recipients
      for (let length = 1; length <= events.length; length++) {
        const now = fold(events.slice(0, length)).recipients
        before.forEach(({ status }, i) => {
          if (EmailStatus.isFinal(status)) assert.isTrue(EmailStatus.isFinal(now[i]?.status ?? "queued"))
        })
        before = now
      }
    },
    RUNS,
  )

  it.prop(
    "attempts never shrink and the last event is never earlier than the one before",
    { events: histories },
    ({ events }) => {
      const whole = fold(events)
      const part = fold(events.slice(0, Math.floor(events.length / 2)))
      part.recipients.forEach((recipient, i) => {
        assert.isAtMost(recipient.attempts, whole.recipients[i]?.attempts ?? -1)
        assert.isTrue(recipient.last_event_at <= (whole.recipients[i]?.last_event_at ?? ""))
      })
      assert.isTrue(part.updated_at <= whole.updated_at)
    },
    RUNS,
  )

  const ladder = Arbitrary.schema(Schema.Union([others.EmailDelivered, others.EmailBounced, others.EmailComplained]))
  it.prop(
    "the order of a delivery and of what was learnt later makes no difference",
    {
      facts: Arbitrary.array(Arbitrary.all([ladder, Arbitrary.schema(Schema.Literals([0, 1, 2]))]), { maxLength: 6 }),
    },
    ({ facts }) => {
      const events = facts.map(([event, who]) => ({ ...event, recipient: people[who] ?? ana }) as Email.Event)
      const statuses = (order: ReadonlyArray<Email.Event>) => fold(order).recipients.map(({ status }) => status)
      assert.deepStrictEqual(statuses(events.toReversed()), statuses(events))
      assert.deepStrictEqual(statuses(events.toSorted((a, b) => a._tag.localeCompare(b._tag))), statuses(events))
    },
    RUNS,
  )
})
