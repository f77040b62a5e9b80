import { verify } from "../../packages/verify/src/verify.ts"
import { assert, describe, it } from "../support/effectTest.ts"
import { type Asked, askSecond } from "./askSecond.ts"
import * as MadeLog from "./MadeLog.ts"
import { sampleLog } from "./sampleLog.ts"
import { TAMPERED } from "./tampered.ts"

const { log, origin, others, own, keys, witnesses } = sampleLog()
const proving = { keys, log, origin, witnesses }
const pinned = { keys: keys.map(({ vkey }) => vkey), witnesses: witnesses.map(({ vkey }) => vkey), origin }
const good = () => MadeLog.receiptOf(own, proving)

const asText = (receipt: MadeLog.Draft | string) => (typeof receipt === "string" ? receipt : JSON.stringify(receipt))

/** Values whose canonical form is easily missed: names that UTF-16 orders otherwise, escapes, and numbers. */
const odd = MadeLog.leavesOf("odd", [
  {
    type: "email.queued",
    at: "2026-11-29T18:00:00.000Z",
    data: {
      email_id: "odd",
      "\ufb33": 1,
      "\ud83d\ude00": 2,
      text: '\u007f\u2028\u0001\b\f\n\r\t"\\/\ufffd\u00e9',
      numbers: [
        0, -0, 5e-324, 1e-7, 0.000001, 333333333.33333325, 1e20, 1e21, -9007199254740992, 1.7976931348623157e308,
      ],
      nested: { b: [{}, [], null, true], a: { "": "" } },
    },
  },
])

describe("a verifier in Python, written from the contract", () => {
  it("agrees on good receipts and on each that was tampered with", async ({ skip }) => {
    const former = keys[0]?.vkey ?? ""
    const next = MadeLog.makeKey(origin)
    const redacted = MadeLog.receiptOf(own, { ...proving, redact: ["recipient", "to", "subject"] })
    const cases: ReadonlyArray<Asked> = [
      { name: "good", receipt: asText(good()), ...pinned },
      { name: "without keys", receipt: asText(good()) },
      { name: "spaces", receipt: JSON.stringify(good(), undefined, 2), ...pinned },
      { name: "redacted", receipt: asText(redacted), ...pinned },
      { name: "another spelling", receipt: asText(good()).replace(/"index":(\d+)/u, '"index":$1.0e0'), ...pinned },
      { name: "odd values", receipt: asText(MadeLog.receiptOf(odd, { keys, log: [...log, ...odd], origin })) },
      { name: "other key", receipt: asText(good()), keys: [MadeLog.makeKey(origin).vkey] },
      { name: "other witness", receipt: asText(good()), witnesses: [MadeLog.makeKey("w3", 4).vkey] },
      { name: "other origin", receipt: asText(good()), origin: "other.example/log" },
      { name: "both keys", receipt: asText(MadeLog.receiptOf(own, { ...proving, keys: [...keys, next] })), ...pinned },
      { name: "next key", receipt: asText(MadeLog.receiptOf(own, { ...proving, keys: [next] })), ...pinned },
      ...["2026-11-29T18:05:00.000Z", "2026-11-29T18:04:59.999Z"].map((until) => ({
        name: `until ${until}`,
        receipt: asText(good()),
        keys: [{ key: former, until }],
      })),
      ...Object.entries(TAMPERED).flatMap(([name, { change }]) => {
        const receipt = asText(change({ receipt: good(), log, others, own, proving }))
        return [
          { name, receipt, ...pinned },
          { name: `${name}, without keys`, receipt },
        ]
      }),
    ]
    const second = askSecond(cases)
    if (typeof second === "string") return skip(second)
    for (const [nth, { name, receipt, ...options }] of cases.entries()) {
      const { holds } = await verify(receipt, options)
      assert.strictEqual(second[nth] === null, holds, `${name}: ${second[nth]}`)
    }
    assert.isAbove(second.filter((wrong) => wrong === null).length, 6)
    assert.isAbove(second.filter((wrong) => wrong !== null).length, 100)
  }, 300_000)
})
