import * as DeliveryOutcome from "@waybill/domain/email/DeliveryOutcome"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { Address } from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { EventStore } from "@waybill/store/commit/EventStore"
import { assert, layer } from "../../support/effectTest.ts"
import { HttpWorld, signUp } from "../../support/world/HttpWorld.ts"

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: "90 seconds" })(
  "GET /email/logs by recipients",
  (it) => {
    it.effect("looks for outcomes of the recipient that is searched", function* () {
      const { account: account_id, call, send } = yield* signUp({ domains: ["acme.test"] })
      const store = yield* EventStore
      const at = Timestamp.fromMillis(Date.now())
      const words = { ...DeliveryOutcome.NO_RESPONSE, code: 550 }
      const report = (id: string, ...bounced: ReadonlyArray<string>) =>
        store.commit(
          Email,
          { account_id, stream_id: id },
          EmailReport.record(
            at,
            ["ana@gmail.com", "bo@example.org"].map((recipient) => ({
              _tag: bounced.includes(recipient) ? "Bounced" : "Delivered",
              recipient: recipient as Address,
              words,
            })),
          ),
        )
      const to = ["ana@gmail.com", "bo@example.org"]
      const [own, others, both] = [yield* send({ to }), yield* send({ to }), yield* send({ to })]
      yield* report(own, "ana@gmail.com")
      yield* report(others, "bo@example.org")
      yield* report(both, ...to)
      for (const [typed, expected] of [
        ["anyone:bounced", [both, others, own]],
        ["provider:gmail anyone:bounced", [both, own]],
        ["provider:gmail code:550", [both, own]],
        ["anyone:delivered code:550", []],
        ["to:ana anyone:delivered", [others]],
        ["to:bo@example.org anyone:bounced code:5xx", [both, others]],
        ["to:ana to:bo@example.org anyone:bounced", [both]],
        ["to:ana to:bo@example.org", [both, others, own]],
      ] as const) {
        const { json } = yield* call("GET", `/v1/email/logs?q=${encodeURIComponent(typed)}&count=true`)
        assert.deepStrictEqual(
          json.data.map(({ id }: { readonly id: string }) => id),
          expected,
          typed,
        )
        assert.deepStrictEqual(json.total, { count: expected.length, is_exact: true }, typed)
      }
    })
  },
)
