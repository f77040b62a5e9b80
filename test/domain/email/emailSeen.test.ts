import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { after, ana, bob, NOW, queued, toThree } from "../values/examples.ts"

const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const
const long = (letter: string) => letter.repeat(3000)
const visitor = { user_agent: long("u"), ip: long("i") }

describe("reports about a message", () => {
  it("reports are clipped to what events hold", () => {
    const seen = { user_agent: "u".repeat(512), ip: "i".repeat(64) }
    const url = long("l")
    assert.lengthOf(url, 3000)
    const message = given(Email, queued())
    message
      .when(EmailReport.recordOpened(after(1), visitor))
      .appends({ _tag: "EmailOpened", recipient: ana, ...seen, at: after(1) })
    message
      .when(EmailReport.recordClicked(after(1), url, visitor))
      .appends({ _tag: "EmailClicked", recipient: ana, url: "l".repeat(2048), ...seen, at: after(1) })
    message
      .when(EmailReport.recordComplained(after(1), ana, long("f")))
      .appends({ _tag: "EmailComplained", recipient: ana, feedback_type: "f".repeat(64), at: after(1) })
  })

  it("a report names the recipient only if there is one", () => {
    given(Email, toThree())
      .when(EmailReport.recordOpened(NOW, { user_agent: null, ip: null }))
      .appends({ _tag: "EmailOpened", recipient: null, user_agent: null, ip: null, at: NOW })
  })

  it("at most a thousand opens and clicks are recorded", () => {
    const open = EmailReport.recordOpened(NOW, visitor)
    const click = EmailReport.recordClicked(NOW, "https://acme.test/", visitor)
    const [opened] = happened(Email, [queued()], open).slice(1)
    const [clicked] = happened(Email, [queued()], click).slice(1)
    assert(opened && clicked)
    const times = (n: number, event: Email.Event) => Array.from({ length: n }, () => event)
    given(Email, queued(), ...times(999, opened), ...times(1000, clicked))
      .when(open)
      .appendsOnly("EmailOpened")
    given(Email, queued(), ...times(1000, opened), ...times(999, clicked))
      .when(open)
      .refuses(NOTHING_NEW)
    given(Email, queued(), ...times(1000, opened), ...times(999, clicked))
      .when(click)
      .appendsOnly("EmailClicked")
    given(Email, queued(), ...times(1000, clicked))
      .when(click)
      .refuses(NOTHING_NEW)
  })

  it("a complaint of an unknown recipient is ignored", () => {
    given(Email, queued())
      .when(EmailReport.recordComplained(NOW, bob, "abuse"))
      .refuses(NOTHING_NEW)
  })
})
