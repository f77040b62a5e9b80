import { assert, describe, it } from "vitest"
import * as BodyScan from "../../../apps/server/src/requests/BodyScan.ts"
import { processorMs } from "../../support/processorMs.ts"

const scan = (text: string) => BodyScan.scan(Buffer.from(text))

describe("the scan of a body", () => {
  it("ends at a bracket that nothing opened, whatever follows", () => {
    for (const text of ["]", "}", "[]]", "{}}", "1]", '"a"}']) {
      const { problem, values } = scan(text)
      assert.deepStrictEqual(scan(`${text}${":,[{".repeat(BodyScan.MAX_VALUES)}`), { problem, values }, text)
    }
  })

  it("takes no longer for brackets that nothing opened than for text", () => {
    const measure = (text: string) => {
      const bytes = Buffer.from(text)
      const began = processorMs()
      BodyScan.scan(bytes)
      return processorMs() - began
    }
    const size = 1024 * 1024
    const plain = Math.min(...[1, 2, 3].map(() => measure("x".repeat(size))))
    for (const text of ["]:", "}:", "]", "]]:{"]) {
      const took = Math.min(...[1, 2, 3].map(() => measure(text.repeat(size / text.length))))
      assert.isBelow(took, 10 * plain + 10, text)
    }
  })

  it("finds the end of every string, however it is escaped and however long it is", () => {
    for (const length of [0, 1, 61, 62, 63, 64, 65, 66, 127, 128, 129, 500])
      for (const end of ["", "\\", "\\\\", '"', '\\"', '""', "\\".repeat(70), '"'.repeat(70), 'x"x\\'.repeat(40)]) {
        const text = JSON.stringify([`${"a".repeat(length)}${end}`, 1, `${end}${"b".repeat(length)}`, 2])
        assert.deepStrictEqual(scan(text), { values: 5, problem: undefined }, text)
      }
    assert.deepStrictEqual(scan(`["${"a".repeat(100)}\\`), { values: 2, problem: undefined })
  })

  it("refuses an object of too many fields, also within others", () => {
    const fields = Object.fromEntries(Array.from({ length: BodyScan.MAX_FIELDS + 1 }, (_, nth) => [`f${nth}`, 1]))
    assert.strictEqual(scan(JSON.stringify({ a: [fields] })).problem?.reason, "payload_too_large")
    const nested = `${"[".repeat(BodyScan.MAX_DEPTH + 1)}${"]".repeat(BodyScan.MAX_DEPTH + 1)}`
    assert.strictEqual(scan(nested).problem?.reason, "payload_too_large")
  })
})
