import { PROVIDERS } from "../../../apps/server/src/providers/formats/ProviderEvent.ts"
import { readCall } from "../../../apps/server/src/providers/formats/readCall.ts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as Calls from "./calls.ts"

const ABOUT: Calls.About = {
  kind: "delivered",
  to: "Ana@example.org",
  messageId: "<msg_01m7ynaym0e008000000000001@acme.test>",
  ref: "0100017A-ref-000000",
  id: "evt-1",
  at: 1_795_000_000_000,
}

for (const provider of PROVIDERS)
  describe(`a call of ${provider}`, () => {
    for (const [name, { body, reads }] of Object.entries(Calls.FORMS[provider](ABOUT)))
      it(`${name}: ${reads === "ignored" ? "says nothing" : reads.map(({ kind }) => kind).join(", ")}`, () => {
        const { events, malformed } = readCall(provider, body)
        assert.strictEqual(malformed, 0)
        const expected = reads === "ignored" ? [] : reads
        assert.lengthOf(events, expected.length)
        for (const [nth, each] of expected.entries()) assert.deepInclude(events[nth], each)
        assert.lengthOf(new Set(events.map(({ id, kind }) => `${kind} ${id}`)), events.length)
      })
  })
