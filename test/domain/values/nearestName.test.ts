import { nearestName } from "@waybill/domain/values/nearestName"
import { assert, describe, it } from "vitest"

const MESSAGE = ["from", "to", "subject", "html", "text", "cc", "bcc", "reply_to", "headers", "tags", "scheduled_at"]

describe("nearest name", () => {
  it.for([
    ["scheduledAt", "scheduled_at"],
    ["replyTo", "reply_to"],
    ["reply-to", "reply_to"],
    ["Bcc", "bcc"],
    ["SUBJECT", "subject"],
    ["tag", "tags"],
    ["header", "headers"],
    ["subjcet", "subject"],
    ["sheduled_at", "scheduled_at"],
    ["frm", "from"],
    ["html_body", "html"],
    ["textBody", "text"],
    ["schedule", "scheduled_at"],
  ] as const)("of %s is %s", ([name, nearest]) => assert.strictEqual(nearestName(name, MESSAGE), nearest))

  it.for(["template", "recipient", "page", "shade", "b", "", "_", "💌", "constructor", "x".repeat(10_000)])(
    "of %s is none",
    (name) => assert.isUndefined(nearestName(name, MESSAGE)),
  )

  it("is one with the same letters before one with fewer edits or an earlier one", () => {
    assert.strictEqual(nearestName("Tag", ["tags", "tag"]), "tag")
    assert.strictEqual(nearestName("open_track", ["click_tracking", "open_tracking"]), "open_tracking")
    assert.isUndefined(nearestName("x", []))
  })

  it("is one that ends with the name, if nothing else is near", () => {
    assert.strictEqual(nearestName("bounced", ["email.queued", "email.bounced"]), "email.bounced")
    assert.strictEqual(nearestName("send", ["email:send", "email:logs:read"]), "email:send")
    assert.isUndefined(nearestName("end", ["email:send"]))
  })
})
