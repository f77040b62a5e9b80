import * as Reply from "@waybill/mail/reply/Reply"
import * as ReplyClass from "@waybill/mail/reply/ReplyClass"
import * as ReplyRules from "@waybill/mail/reply/ReplyRules"
import { Duration, Schema } from "effect"
import { readFileSync } from "node:fs"
import { assert, describe, it } from "../../support/effectTest.ts"
import { growth } from "../../support/postgres/growth.ts"

const Stage = Schema.Literals([
  "connect",
  "greeting",
  "ehlo",
  "starttls",
  "auth",
  "mail",
  "rcpt",
  "data",
  "body",
  "end_of_data",
])
const Sample = Schema.Struct({
  server: Schema.String,
  stage: Stage,
  reply: Schema.String,
  class: Schema.Literals(ReplyClass.CLASSES),
  action: Schema.Literals(["defer", "bounce"]),
  hint_seconds: Schema.optionalKey(Schema.Int),
})
const samples = Schema.decodeSync(Schema.fromJsonString(Schema.Array(Sample)))(
  readFileSync(new URL("../../fixtures/replies/samples.json", import.meta.url), "utf8"),
)

const verdict = (raw: string, stage: ReplyClass.Stage = "rcpt") => {
  const reply = Reply.parse(raw, stage)
  return reply === undefined ? assert.fail(`not a reply: ${raw}`) : Reply.classify(reply)
}

describe("a reply in the words of", () => {
  for (const sample of samples) {
    it(`${sample.server} means ${sample.class}: ${sample.reply.slice(0, 60).replace(/\s+/g, " ")}`, () => {
      const { action, class: found, hint, rule } = verdict(sample.reply, sample.stage)
      assert.deepStrictEqual(
        { class: found, action, hint_seconds: hint === undefined ? undefined : Duration.toSeconds(hint) },
        { class: sample.class, action: sample.action, hint_seconds: sample.hint_seconds },
        `decided by ${rule}`,
      )
    })
  }
})

describe("the rules", () => {
  it("each match at least one sample", () => {
    const deciding = new Set(samples.map((sample) => verdict(sample.reply, sample.stage).rule))
    assert.deepStrictEqual(
      ReplyRules.rules.map((rule) => rule.id).filter((id) => !deciding.has(id)),
      [],
    )
  })

  it("have unique ids", () => {
    assert.strictEqual(new Set(ReplyRules.rules.map((rule) => rule.id)).size, ReplyRules.rules.length)
  })

  for (const text of ["a ", "mailbox ", "user x", "1", "please try ", "x", "<a@b> ", "try again in 1 "]) {
    const reading = (size: number) => verdict(`550 ${text.repeat(Math.ceil(size / text.length))}`)

    it(`read nothing of "${text}" for ever beyond the limit`, () => {
      assert.isBelow(growth(reading, Reply.REPLY_TEXT_LIMIT * 2, 16), 4)
    })

    it(`take no time that explodes over "${text}" up to the limit`, () => {
      // Quadratic growth would be 16, cubic 64.
      assert.isBelow(growth(reading, Reply.REPLY_TEXT_LIMIT / 4, 4), 32)
    })
  }
})

describe("the rule of a reply", () => {
  it("distinguishes a deferral without a reason from a protocol error", () => {
    assert.strictEqual(verdict("451 4.3.0 Temporary lookup failure").rule, "temporary")
    assert.strictEqual(verdict("354 go ahead").rule, "out-of-step")
  })
})

describe("suppression after a bounce", () => {
  const suppress = (raw: string) => verdict(raw).suppress

  it("covers only classes that are the address's own fault", () => {
    const suppressing = samples.filter((sample) => verdict(sample.reply, sample.stage).suppress !== "never")
    assert.deepStrictEqual([...new Set(suppressing.map((sample) => sample.class))].sort(), [
      "bad_domain",
      "invalid_recipient",
      "mailbox_full",
      "mailbox_inactive",
    ])
  })

  it("needs repeated bounces for a full mailbox, and never follows a deferral", () => {
    assert.strictEqual(suppress("552 5.2.2 mailbox full"), "after_repeats")
    assert.strictEqual(suppress("452 4.2.2 mailbox full"), "never")
    assert.strictEqual(suppress("450 4.1.1 user unknown"), "never")
    assert.strictEqual(suppress("550 5.1.1 user unknown"), "now")
  })

  it("never follows from text alone under 5.7.x", () => {
    for (const raw of ["550 5.7.1 over quota for today", "552 5.7.0 the account has exceeded its storage"])
      assert.deepInclude(verdict(raw), { class: "mailbox_full", suppress: "never" }, raw)
  })

  it("never follows a refusal without a reason", () => {
    for (const raw of ["550", "550 no", "554 5.0.0 error", "553 sorry", "550 5.0.0 failed"])
      assert.strictEqual(suppress(raw), "never", raw)
  })
})

describe("parsing a reply", () => {
  it("gives its code, its enhanced code and its joined text", () => {
    assert.deepStrictEqual(Reply.parse("550-5.1.1 one\r\n550 5.1.1 two", "rcpt"), {
      code: 550,
      enhancedCode: "5.1.1",
      text: "one two",
      stage: "rcpt",
    })
    assert.deepStrictEqual(Reply.parse("250 OK", "rcpt"), {
      code: 250,
      enhancedCode: undefined,
      text: "OK",
      stage: "rcpt",
    })
    assert.deepStrictEqual(Reply.parse("421", "greeting"), {
      code: 421,
      enhancedCode: undefined,
      text: "",
      stage: "greeting",
    })
  })

  it("returns undefined without a code", () => {
    for (const raw of ["", "hello", "99 bottles", "199 no", "600 no", "700 no", "1234 five"])
      assert.isUndefined(Reply.parse(raw, "rcpt"), raw)
    for (const code of [200, 599]) assert.strictEqual(Reply.parse(`${code} so`, "rcpt")?.code, code)
  })

  it("ignores empty lines when joining the text", () => {
    assert.strictEqual(Reply.parse("550-5.1.1\r\n550-5.1.1  \r\n550 5.1.1 gone", "rcpt")?.text, "gone")
  })

  it("keeps the text of lines without a code", () => {
    assert.strictEqual(Reply.parse("550-no\r\nsuch\r\n\r\n550 user\r\n", "rcpt")?.text, "no such user")
  })

  it("stops at the length limit", () => {
    assert.lengthOf(Reply.parse(`550 ${"x".repeat(6000)}`, "rcpt")?.text ?? "", 4000 - "550 ".length)
  })

  it("bounces from code 500 on", () => {
    const actions = ["499", "500"].map((code) => verdict(`${code} 5.1.1 No such user`).action)
    assert.deepStrictEqual(actions, ["defer", "bounce"])
  })

  it("has no enhanced code when one is longer than RFC 3463 allows", () => {
    for (const text of ["5.1.1234 no", "5.1234.1 no"]) {
      const reply = Reply.parse(`550 ${text}`, "rcpt")
      assert.deepStrictEqual([reply?.enhancedCode, reply?.text], [undefined, text])
    }
    assert.strictEqual(Reply.parse("550 5.123.123 no", "rcpt")?.enhancedCode, "5.123.123")
  })
})
