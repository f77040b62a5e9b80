import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as EmailState from "@waybill/domain/email/EmailState"
import type { Status } from "@waybill/domain/email/EmailStatus"
import type { Outcome } from "@waybill/domain/email/DeliveryOutcome"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import {
  address,
  after,
  ana,
  bob,
  busy,
  cyd,
  deferral,
  lostAttempt,
  mailbox,
  noSuchUser,
  NOW,
  outcome,
  queued,
  suppression,
  toThree,
  words,
} from "../values/examples.ts"

const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const

const statusesOf = (events: ReadonlyArray<Email.Event>) => {
  const { state } = given(Email, ...events)
  assert(state._tag === "Message")
  return state.recipients.map(({ status }) => status)
}

describe("outcome", () => {
  it("an outcome keeps the server's response", () => {
    given(Email, queued())
      .when(EmailReport.recordDelivered(after(5), ana, words()))
      .appends({
        _tag: "EmailDelivered",
        recipient: ana,
        code: 250,
        enhanced_code: "2.0.0",
        response: "OK queued as 9F2",
        mx: "mx1.example.org",
        tls: "TLSv1.3",
        duration_ms: 120,
        category: null,
        attempt: 1,
        at: after(5),
      })
  })

  it("a long response is clipped, and forbidden characters are removed", () => {
    const response = `a\u0000b\r\nc ${"x".repeat(600)}`
    given(Email, queued())
      .when(EmailReport.recordDelivered(NOW, ana, words({ response, duration_ms: 1.6 })))
      .leads((email) => {
        assert(email._tag === "Message")
        const smtp = email.recipients[0]?.smtp
        assert.isAtMost(smtp?.response?.length ?? 0, 512)
        assert.match(smtp?.response ?? "", /^a b c xxx/u)
        assert.strictEqual(smtp?.duration_ms, 2)
      })
  })

  it("a response within the limits is kept unchanged", () => {
    const of = (letter: string) => letter.repeat(600)
    const long = { response: of("r"), mx: of("m"), tls: of("t"), category: of("c"), enhanced_code: of("e") }
    given(Email, queued())
      .when(EmailReport.recordDelivered(NOW, ana, words({ ...long, code: -1, duration_ms: -0.7 })))
      .leads((email) => {
        assert(email._tag === "Message")
        assert.deepStrictEqual(email.recipients[0]?.smtp, {
          code: 0,
          enhanced_code: "e".repeat(64),
          response: "r".repeat(512),
          mx: "m".repeat(255),
          tls: "t".repeat(64),
          duration_ms: 0,
          category: "c".repeat(64),
        })
      })
  })

  it("the next attempt is known until the email is final", () => {
    const nextOf = (events: ReadonlyArray<Email.Event>) => {
      const { state } = given(Email, ...events)
      return state._tag === "Message" ? state.recipients[0]?.next_attempt_at : undefined
    }
    const deferred = happened(Email, [queued()], deferral(after(1)))
    assert.strictEqual(nextOf(deferred), after(60_000))
    const delivered = happened(Email, deferred, EmailReport.recordDelivered(after(2), ana, words({ attempt: 2 })))
    assert.isNull(nextOf(delivered))
    // A deferral after the end, or one reported late, sets no next attempt.
    assert.isNull(nextOf([...delivered, ...deferred.slice(1)]))
    const [, late] = happened(Email, [queued()], outcome(after(3), "Sent"))
    assert.isNull(nextOf(late === undefined ? [] : [...deferred, late]))
  })

  it("outcomes of several recipients are recorded at once, each as its own event", () => {
    const outcomes: ReadonlyArray<Outcome> = [
      { _tag: "Delivered", recipient: ana, words: words() },
      { _tag: "Deferred", recipient: bob, words: busy(), next_attempt_at: after(60_000) },
      { _tag: "Bounced", recipient: cyd, words: noSuchUser() },
    ]
    const recorded = given(Email, toThree()).when(EmailReport.record(NOW, outcomes))
    recorded.appendsOnly("EmailDelivered", "EmailDeferred", "EmailBounced")
    recorded.leads((email) => {
      assert(email._tag === "Message")
      assert.strictEqual(EmailState.status(email), "deferred")
    })
  })

  it("a repeated outcome is recorded once", () => {
    const twice: Outcome = { _tag: "Delivered", recipient: ana, words: words() }
    given(Email, queued())
      .when(EmailReport.record(NOW, [twice, twice]))
      .appendsOnly("EmailDelivered")
    const history = happened(Email, [queued()], EmailReport.record(NOW, [twice]))
    given(Email, ...history)
      .when(EmailReport.record(after(1), [twice]))
      .refuses(NOTHING_NEW)
  })

  it("a second deferral of the same attempt is ignored, one of the next attempt is recorded", () => {
    const history = happened(Email, [queued()], deferral(NOW))
    given(Email, ...history)
      .when(deferral(after(1)))
      .refuses(NOTHING_NEW)
    given(Email, ...history)
      .when(deferral(after(1), busy({ attempt: 2 })))
      .appendsOnly("EmailDeferred")
  })

  it("an outcome without an attempt number counts no attempt", () => {
    given(Email, queued())
      .when(deferral(NOW, busy({ attempt: null })))
      .leads((email) => {
        assert(email._tag === "Message")
        assert.strictEqual(email.recipients[0]?.status, "deferred")
        assert.strictEqual(email.recipients[0]?.attempts, 0)
      })
  })

  it("an outcome finds its recipient in any case", () => {
    const history = [queued({ to: [mailbox("Ana.Long@example.org")] })]
    given(Email, ...history)
      .when(EmailReport.recordBounced(NOW, address("ana.long@EXAMPLE.org"), noSuchUser()))
      .leads((email) => {
        assert(email._tag === "Message")
        assert.strictEqual(EmailState.status(email), "bounced")
      })
  })

  it("an outcome of an unknown recipient is ignored", () => {
    given(Email, queued())
      .when(EmailReport.recordDelivered(NOW, bob, words()))
      .refuses(NOTHING_NEW)
  })

  it("an outcome of a missing email is refused", () => {
    for (const decide of [
      EmailReport.recordDelivered(NOW, ana, words()),
      EmailReport.recordComplained(NOW, ana, null),
      EmailReport.recordOpened(NOW, { user_agent: null, ip: null }),
    ])
      given(Email).when(decide).refuses({ status: 404, reason: "email_not_found" })
  })
})

describe("status transitions", () => {
  // Contract §4, row by row: the transitions of each status. All others are ignored.
  const to = {
    deferred: deferral(after(9), busy({ attempt: 9 })),
    sent: outcome(after(9), "Sent", ana, words({ attempt: 9 })),
    delivered: EmailReport.recordDelivered(after(9), ana, words({ attempt: 9 })),
    bounced: EmailReport.recordBounced(after(9), ana, noSuchUser({ attempt: 9 })),
    failed: outcome(after(9), "Failed", ana, words({ attempt: 9 })),
    suppressed: suppression(after(9)),
    complained: EmailReport.recordComplained(after(9), ana, "abuse"),
  }
  const reach: { readonly [S in Status]: ReadonlyArray<Email.Event> } = {
    queued: [queued()],
    deferred: happened(Email, [queued()], deferral(NOW)),
    sent: happened(Email, [queued()], outcome(NOW, "Sent")),
    delivered: happened(Email, [queued()], EmailReport.recordDelivered(NOW, ana, words())),
    bounced: happened(Email, [queued()], EmailReport.recordBounced(NOW, ana, noSuchUser())),
    failed: happened(Email, [queued()], outcome(NOW, "Failed")),
    suppressed: happened(Email, [queued()], suppression(NOW)),
    canceled: happened(Email, [queued()], Email.cancel(NOW)),
    complained: happened(
      Email,
      [queued()],
      EmailReport.recordDelivered(NOW, ana, words()),
      EmailReport.recordComplained(NOW, ana, "abuse"),
    ),
  }
  const allowed: { readonly [S in Status]: ReadonlyArray<keyof typeof to> } = {
    queued: ["deferred", "sent", "delivered", "bounced", "failed", "suppressed", "complained"],
    deferred: ["deferred", "sent", "delivered", "bounced", "failed", "suppressed", "complained"],
    sent: ["delivered", "bounced", "complained"],
    delivered: ["bounced", "complained"],
    bounced: ["complained"],
    failed: [],
    suppressed: [],
    canceled: [],
    complained: [],
  }

  for (const from of Object.keys(reach) as ReadonlyArray<Status>)
    for (const next of Object.keys(to) as ReadonlyArray<keyof typeof to>) {
      const taken = allowed[from].includes(next)
      it(`${from} ${taken ? "leads to" : "never leads to"} ${next}`, () => {
        const decided = given(Email, ...reach[from]).when(to[next])
        if (taken) decided.leads((email) => assert(email._tag === "Message" && EmailState.status(email) === next))
        else decided.refuses(NOTHING_NEW)
      })
    }
})

describe("late reports", () => {
  it("a late bounce turns delivered into bounced and keeps the delivery time", () => {
    const history = happened(
      Email,
      [queued()],
      EmailReport.recordDelivered(after(1), ana, words()),
      EmailReport.recordBounced(after(2), ana, noSuchUser({ attempt: null })),
    )
    const { state } = given(Email, ...history)
    assert(state._tag === "Message")
    const [recipient] = state.recipients
    assert.deepStrictEqual([recipient?.status, recipient?.delivered_at, recipient?.attempts], ["bounced", after(1), 1])
    assert.strictEqual(recipient?.smtp?.code, 550)
  })

  it("delivery, bounce and complaint lead to the same status in any order", () => {
    const delivered = happened(Email, [queued()], EmailReport.recordDelivered(after(1), ana, words()))
    const bounced = happened(Email, [queued()], EmailReport.recordBounced(after(2), ana, noSuchUser())).slice(1)
    const complained = happened(Email, delivered, EmailReport.recordComplained(after(3), ana, "abuse")).slice(2)
    assert.deepStrictEqual(statusesOf([...delivered, ...bounced, ...complained]), ["complained"])
    assert.deepStrictEqual(statusesOf([...delivered, ...complained, ...bounced]), ["complained"])
  })

  it("the delivery time is kept wherever the delivery is in the history, and never set without one", () => {
    const deliveredAt = (...events: ReadonlyArray<Email.Event>) => {
      const { state } = given(Email, queued(), ...events)
      return state._tag === "Message" ? state.recipients[0]?.delivered_at : undefined
    }
    const [delivered, complained] = happened(
      Email,
      [queued()],
      EmailReport.recordDelivered(after(1), ana, words()),
      EmailReport.recordComplained(after(3), ana, "abuse"),
    ).slice(1)
    const [bounced] = happened(Email, [queued()], EmailReport.recordBounced(after(2), ana, noSuchUser())).slice(1)
    const [failed] = happened(Email, [queued()], outcome(after(2), "Failed")).slice(1)
    assert(delivered?._tag === "EmailDelivered" && complained && bounced && failed)
    assert.isNull(deliveredAt(bounced))
    assert.isNull(deliveredAt(failed, delivered))
    for (const report of [bounced, complained]) {
      assert.strictEqual(deliveredAt(delivered, report), after(1))
      assert.strictEqual(deliveredAt(report, delivered), after(1))
    }
    assert.strictEqual(deliveredAt(delivered, { ...delivered, at: after(9) }), after(1))
  })

  it("only a hard bounce suppresses the address", () => {
    const typeOf = (category: string | null) => {
      const [event] = happened(Email, [queued()], EmailReport.recordBounced(NOW, ana, noSuchUser({ category }))).slice(
        1,
      )
      assert(event?._tag === "EmailBounced")
      return event.bounce_type
    }
    for (const category of ["invalid_recipient", "bad_domain", "mailbox_inactive"])
      assert.strictEqual(typeOf(category), "hard")
    for (const category of ["mailbox_full", "blocked", "auth", "policy", "content", "too_large", "protocol", null])
      assert.strictEqual(typeOf(category), "soft")
  })
})

describe("lost attempt", () => {
  it("a lost attempt is counted and leaves the status unchanged", () => {
    const lost = given(Email, queued()).when(lostAttempt(after(1)))
    lost.appends({ _tag: "EmailAttemptLost", recipient: ana, attempt: 1, at: after(1) })
    lost.leads((email) => {
      assert(email._tag === "Message")
      const [recipient] = email.recipients
      assert.deepStrictEqual([recipient?.status, recipient?.attempts, recipient?.lost], ["queued", 1, 1])
    })
  })
  it("a lost attempt is recorded once", () => {
    const history = happened(Email, [queued()], lostAttempt(after(1)))
    given(Email, ...history)
      .when(lostAttempt(after(2)))
      .refuses(NOTHING_NEW)
    given(Email, ...history)
      .when(lostAttempt(after(2), 2))
      .appendsOnly("EmailAttemptLost")
  })
  it("the outcome of a lost attempt is still recorded", () => {
    const history = happened(Email, [queued()], lostAttempt(after(1)))
    given(Email, ...history)
      .when(EmailReport.recordDelivered(after(2), ana, words()))
      .appendsOnly("EmailDelivered")
  })
})

describe("opens and clicks", () => {
  const visitor = { user_agent: "Mozilla/5.0\u0007", ip: "203.0.113.9" }
  const click = EmailReport.recordClicked(after(1), "https://acme.test/r?x=1", visitor)

  it("opens and clicks are counted and change no status", () => {
    const history = happened(
      Email,
      [queued()],
      EmailReport.recordDelivered(NOW, ana, words()),
      EmailReport.recordOpened(after(1), visitor),
      click,
    )
    const { state } = given(Email, ...history)
    assert(state._tag === "Message")
    assert.deepStrictEqual([state.opens, state.clicks, EmailState.status(state)], [1, 1, "delivered"])
  })
  it("the recipient of an open is known if there is only one", () => {
    given(Email, queued())
      .when(click)
      .appends({
        _tag: "EmailClicked",
        recipient: ana,
        url: "https://acme.test/r?x=1",
        user_agent: "Mozilla/5.0",
        ip: "203.0.113.9",
        at: after(1),
      })
    given(Email, toThree())
      .when(click)
      .appends({
        _tag: "EmailClicked",
        recipient: null,
        url: "https://acme.test/r?x=1",
        user_agent: "Mozilla/5.0",
        ip: "203.0.113.9",
        at: after(1),
      })
  })
  it("opens and clicks are limited in number", () => {
    const opened: Email.Event = { _tag: "EmailOpened", recipient: ana, user_agent: null, ip: null, at: NOW }
    const clicked: Email.Event = { _tag: "EmailClicked", recipient: ana, url: "", user_agent: null, ip: null, at: NOW }
    const thousand = <A>(event: A) => Array.from({ length: 1000 }, () => event)
    given(Email, queued(), ...thousand(opened).slice(1))
      .when(EmailReport.recordOpened(NOW, visitor))
      .appendsOnly("EmailOpened")
    given(Email, queued(), ...thousand(opened))
      .when(EmailReport.recordOpened(NOW, visitor))
      .refuses(NOTHING_NEW)
    given(Email, queued(), ...thousand(clicked))
      .when(click)
      .refuses(NOTHING_NEW)
  })
})
