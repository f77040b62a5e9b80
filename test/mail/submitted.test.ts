import { assert, describe, it } from "@effect/vitest"
import * as Submitted from "@waybill/mail/Submitted"
import { Effect } from "effect"

describe("a submitted name", () => {
  it.effect("may be folded before a tab", () =>
    Effect.gen(function* () {
      const folded = `From: "Acme,\r\n\tof old" <hi@acme.test>\r\nTo: Ana\r\n\tMaria\r\n\t<ana@example.org>\r\n\r\nhi\r\n`
      const { from, to } = yield* Submitted.parse(Buffer.from(folded))
      assert.deepStrictEqual(from, [{ address: "hi@acme.test", name: "Acme, of old" }])
      assert.deepStrictEqual(to, [{ address: "ana@example.org", name: "Ana Maria" }])
    }),
  )
})
