import * as RequestRecipients from "@waybill/store/requests/RequestRecipients"
import { assert, describe, it } from "vitest"
import { MAX_SEARCHED_BYTES, recipientsOf } from "../../../apps/server/src/requestLog/recipientsOf.ts"
import { leastProcessorMs } from "../../support/processorMs.ts"

const ACCOUNT = "acc_1"
/** An expression that tries each beginning of a word takes seconds. */
const BOUND_MS = 50
const keysOf = (...addresses: ReadonlyArray<string>) =>
  addresses.map((address) => RequestRecipients.keyOf(ACCOUNT, address as never))
const found = (body: string) => recipientsOf(ACCOUNT, Buffer.from(body))

describe("the recipients of a refused call", () => {
  it("are those of all fields and forms, and only whole addresses", () => {
    const body = {
      to: ["Ana <ana@example.org>", { email: "bo@example.org" }],
      Cc: "cy@example.org, di@x",
      text: "no@body.org",
    }
    assert.deepStrictEqual(found(JSON.stringify(body)), keysOf("ana@example.org", "bo@example.org", "cy@example.org"))
    assert.isNull(found('{"to":"nobody"}'))
  })

  it.for([
    ["a word without an end", '"to":"', "x", '"'],
    ["a word of at signs", '"to":"', "@", '"'],
    ["short words", '"to":"', "a@ ", '"'],
    ["fields that do not end", "", '"to":[', ""],
    ["fields of quotes", "", '"to":"\\"', ""],
    ["a field before white space", '"to"', " ", ""],
    ["fields before white space", "", '"to"   ', ""],
    ["lists of texts that do not end", '"to":[', '"x"', ""],
  ] as const)("are looked for in one pass over %s", ([, begin, part, end]) => {
    const times = Math.floor((MAX_SEARCHED_BYTES - begin.length - end.length) / part.length)
    const body = `${begin}${part.repeat(times)}${end}`
    found(body)
    assert.isBelow(
      leastProcessorMs(BOUND_MS, () => found(body)),
      BOUND_MS,
    )
  })
})
