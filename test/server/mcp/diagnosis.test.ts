import type { Domain, EmailLogWithContent, EmailRecipient } from "@waybill/client/Waybill"
import * as ReplyClass from "@waybill/mail/reply/ReplyClass"
import { assert, describe, it } from "vitest"
import * as CauseTexts from "@waybill/domain/explanation/CauseTexts"
import * as Diagnosis from "../../../apps/server/src/mcp/tools/Diagnosis.ts"
import { domainText } from "../../../apps/server/src/mcp/tools/domainText.ts"

const NOW = "2026-11-21T09:00:00.000Z"
const LATER = "2026-11-21T10:00:00.000Z"

const recipient = (over: Partial<EmailRecipient>): EmailRecipient => ({
  address: "ana@example.org",
  kind: "to",
  status: "queued",
  attempts: 0,
  last_event_at: NOW,
  suppression: null,
  smtp: null,
  ...over,
})
const smtp = (over: Partial<NonNullable<EmailRecipient["smtp"]>>): NonNullable<EmailRecipient["smtp"]> => ({
  code: null,
  enhanced_code: null,
  response: null,
  mx: null,
  tls: null,
  duration_ms: null,
  category: null,
  ...over,
})
const email = (recipients: ReadonlyArray<EmailRecipient>, over: Partial<EmailLogWithContent> = {}) =>
  ({
    id: "msg_1",
    status: recipients[0]?.status ?? "queued",
    domain: "acme.com",
    scheduled_at: null,
    next_attempt_at: null,
    recipient_counts: {},
    recipients,
    ...over,
  }) as EmailLogWithContent

const only = (status: EmailRecipient["status"], over: Partial<EmailRecipient> = {}, rest = {}) => {
  const evidence = {
    email: email([recipient({ status, ...over })], rest),
    domain: undefined,
    suppressions: new Map(),
    now: NOW,
  }
  const [diagnosis] = Diagnosis.diagnose(evidence)
  return diagnosis ?? assert.fail("no diagnosis")
}

describe("the diagnosis of an email", () => {
  it.each([
    ["queued", {}, { scheduled_at: LATER }, /waits for its scheduled time, 2026-11-21T10:00/u],
    ["queued", {}, { next_attempt_at: NOW }, /waits in the queue for its first attempt; the next attempt is at/u],
    [
      "deferred",
      { attempts: 2, smtp: smtp({ category: "greylisted", code: 451, enhanced_code: "4.7.1" }) },
      { next_attempt_at: LATER },
      /2 attempts so far, .*at 2026-11-21T10:00.*greylisting \(451 4\.7\.1\)\. This is normal for a first message\.$/u,
    ],
    ["sent", {}, {}, /relay has accepted the email/u],
    ["delivered", { smtp: smtp({ mx: "capture" }) }, {}, /kept in the sandbox and not sent/u],
    ["delivered", { smtp: smtp({ mx: "mx.example.org" }) }, {}, /it may be in a spam folder/u],
    [
      "bounced",
      { attempts: 1, smtp: smtp({ category: "mailbox_full" }) },
      {},
      /^The mailbox of the recipient is full\. Waybill does not try again\.$/u,
    ],
    ["failed", { smtp: smtp({ category: "expired" }) }, {}, /gave up\. Every attempt was deferred/u],
    ["suppressed", { suppression: "unsubscribe" }, {}, /suppression list, because its owner unsubscribed/u],
    ["canceled", {}, {}, /was canceled/u],
    ["complained", {}, {}, /reported it as spam/u],
  ] as const)("%s is explained", (status, over, rest, expected) => {
    const { explanation, next_step } = only(status, over, rest)
    assert.match(explanation, expected)
    assert.notStrictEqual(next_step, "")
  })

  it("every category of the service has an explanation of its own", () => {
    const others = ["connection", "tls", "dns", "cooling_down", "lost_answer", "expired", "domain_removed", "signing"]
    const texts = [...ReplyClass.CLASSES, ...others].map((category) => CauseTexts.of(category).meaning)
    assert.notInclude(texts, CauseTexts.of(null).meaning)
    assert.strictEqual(new Set(texts).size, texts.length)
    assert.deepStrictEqual(CauseTexts.of("constructor"), CauseTexts.of(null))
  })

  it("nobody is told to wait once no attempt follows", () => {
    const waiting = ["greylisted", "throttled", "unavailable", "connection", "dns", "cooling_down", "source_address"]
    for (const category of [...waiting, "lost_answer"]) {
      assert.match(only("deferred", { smtp: smtp({ category }) }).next_step, /\bwait\b/iu, category)
      for (const status of ["failed", "bounced"] as const) {
        const { next_step } = only(status, { smtp: smtp({ category }) })
        assert.notMatch(next_step, /\bwait\b/iu, category)
        assert.match(next_step, /\bresend\b/iu, category)
      }
    }
  })

  it("the summary names what is wrong with the domain, and quotes no server", () => {
    const record = { purpose: "dkim", type: "TXT", name: "wb1._domainkey.acme.com", required: true, status: "missing" }
    const domain = { name: "acme.com", status: "degraded", records: [record] } as unknown as Domain
    const evidence = {
      email: email([
        recipient({ status: "bounced", smtp: smtp({ category: "auth", response: "550 do as I say" }) }),
        recipient({ status: "delivered", address: "bo@example.org" }),
      ]),
      domain,
      suppressions: new Map(),
      now: NOW,
    }
    const summary = Diagnosis.summarize(evidence, Diagnosis.diagnose(evidence))
    assert.match(summary, /1 of 2 recipients did not receive it/u)
    assert.include(summary, domainText(domain))
    assert.match(summary, /wb1\._domainkey\.acme\.com \(dkim, required\) does not exist/u)
    assert.notInclude(summary, "do as I say")
  })
})
