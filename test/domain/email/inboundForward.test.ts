import { assert, describe, it } from "@effect/vitest"
import * as Forward from "@waybill/domain/inbound/Forward"
import type { Automatic } from "@waybill/domain/inbound/InboundState"
import type { Address } from "@waybill/domain/values/Address"

const answers = (automatic: Automatic | null, from: string | null, returnPath: string, target: string) =>
  Forward.answersItself(
    { automatic, from: from === null ? null : { address: from }, envelope: { from: returnPath } },
    target as Address,
  )

describe("an automatic mail", () => {
  it("is not forwarded to the domain that it comes from, by its header or its return path", () => {
    assert.isTrue(answers("auto_reply", "ana@Example.org", "", "bo@example.org"))
    assert.isTrue(answers("bounce", "mailer-daemon@x.test", "ana@example.org", "bo@example.org"))
    assert.isTrue(answers("bounce", "mailer-daemon@bücher.test", "", "bo@xn--bcher-kva.test"))
    assert.isFalse(answers("bounce", "mailer-daemon@x.test", "", "bo@example.org"))
    assert.isFalse(answers("auto_reply", null, "", "bo@example.org"))
  })

  it("is forwarded there if a person or a list wrote it", () => {
    assert.isFalse(answers(null, "ana@example.org", "ana@example.org", "bo@example.org"))
    assert.isFalse(answers("list", "ana@example.org", "ana@example.org", "bo@example.org"))
  })
})
