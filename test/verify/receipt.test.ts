import { readFileSync } from "node:fs"
import { type VerifyOptions, verify } from "../../packages/verify/src/verify.ts"
import { assert, describe, it } from "../support/effectTest.ts"
import * as MadeLog from "./MadeLog.ts"
import { sampleLog } from "./sampleLog.ts"
import { TAMPERED } from "./tampered.ts"

const { log, origin, others, own, keys, witnesses } = sampleLog()
const proving = { keys, log, origin, witnesses }
const pinned: VerifyOptions = {
  keys: keys.map(({ vkey }) => vkey),
  witnesses: witnesses.map(({ vkey }) => vkey),
  origin,
}
const good = () => MadeLog.receiptOf(own, proving)

/** Results of the steps by their first letters: p(assed), w(arning), f(ailed), s(kipped). */
const resultsOf = async (receipt: MadeLog.Draft | string, options: VerifyOptions = pinned): Promise<string> => {
  const { holds, steps } = await verify(typeof receipt === "string" ? receipt : JSON.stringify(receipt), options)
  const results = steps.map(({ result }) => result[0]).join("")
  assert.strictEqual(holds, !/[fs]/u.test(results))
  return results
}

describe("a receipt", () => {
  it("holds, and says what it does not know without pinned keys", async () => {
    assert.strictEqual(await resultsOf(good()), "ppppppppp")
    assert.strictEqual(await resultsOf(good(), {}), "pppppppww")
    assert.strictEqual(await resultsOf(JSON.stringify(good(), undefined, 2)), "ppppppppp")
    const { steps } = await verify(new TextEncoder().encode(JSON.stringify(good())), pinned)
    assert.match(steps.at(-1)?.words ?? "", /w1 at 2025-11-24T16:00:00.000Z, .*w2 at/u)
  })

  it("holds with fields that are hidden, of which it shows nothing", async () => {
    const redacted = MadeLog.receiptOf(own, { ...proving, redact: ["recipient", "to", "subject"] })
    const text = JSON.stringify(redacted)
    assert.strictEqual(await resultsOf(redacted), "ppppppppp")
    for (const secret of ["ana@example", "bo@example", "caf\u00e9"]) assert.notInclude(text, secret)
    // A guess of the value does not help without its salt.
    const event = redacted.events[1] ?? assert.fail("there is no second event")
    const salt = own[1]?.fields["recipient"]?.salt ?? assert.fail("it has no recipient")
    for (const guessed of [Buffer.alloc(32).toString("base64url"), event.fields?.["code"]?.salt ?? ""]) {
      delete event.hidden?.["recipient"]
      event.fields = { ...event.fields, recipient: { salt: guessed, value: "ana@example.org" } }
      redacted.email = MadeLog.recordOf(redacted.events)
      assert.strictEqual(await resultsOf(redacted), "pfppppppp")
    }
    event.fields = { ...event.fields, recipient: { salt, value: "ana@example.org" } }
    redacted.email = MadeLog.recordOf(redacted.events)
    assert.strictEqual(await resultsOf(redacted), "ppppppppp")
  })

  it("holds where data was erased, which it says", async () => {
    const erased = good()
    for (const event of erased.events.slice(1)) {
      delete event.fields
      delete event.hidden
    }
    erased.email = MadeLog.recordOf(erased.events)
    assert.strictEqual(await resultsOf(erased), "pwppppppp")
  })

  it.each(Object.entries(TAMPERED))("that was tampered with does not hold: %s", async (_, each) => {
    const receipt = each.change({ receipt: good(), log, others, own, proving })
    assert.strictEqual(await resultsOf(receipt), each.results)
    assert.strictEqual((await resultsOf(receipt, {})).includes("f"), each.needsKeys !== true)
  })

  it("does not hold with a byte changed, unless its JSON says the same", async () => {
    const text = JSON.stringify(MadeLog.receiptOf(others[0] ?? [], { ...proving, redact: ["code"] }))
    const bytes = new TextEncoder().encode(text)
    const same = MadeLog.canonical(JSON.parse(text) as MadeLog.Value)
    for (let at = 0; at < bytes.length; at++)
      for (const bit of [1, 0x20]) {
        const changed = bytes.with(at, (bytes[at] ?? 0) ^ bit)
        if (!(await verify(changed)).holds) continue
        const now = MadeLog.canonical(JSON.parse(new TextDecoder().decode(changed)) as MadeLog.Value)
        assert.strictEqual(now, same, `byte ${at}: ${text.slice(at - 40, at + 40)}`)
      }
    // The same in another spelling is the same receipt.
    const spelled = text
      .replace(/"index":(\d+)/u, '"index" : $1.0e0')
      .replace("email_id", String.raw`\u0065mail_\u0069d`)
    assert.notStrictEqual(spelled, text)
    assert.notInclude(await resultsOf(spelled), "f")
  }, 300_000)

  it("is signed by another key after a rotation, and by both for a while", async () => {
    const [former = assert.fail()] = keys
    const next = MadeLog.makeKey(origin)
    const both = MadeLog.receiptOf(own, { ...proving, keys: [next, former], witnesses: [] })
    for (const key of [former, next]) assert.strictEqual(await resultsOf(both, { keys: [key.vkey] }), "ppppppppw")
    const later = MadeLog.receiptOf(own, { ...proving, keys: [next], witnesses: [] })
    assert.strictEqual(await resultsOf(later, { keys: [former.vkey] }), "pppppppfw")
    assert.strictEqual(await resultsOf(later, { keys: [former.vkey, next.vkey] }), "ppppppppw")
    const until = (time: string) => resultsOf(good(), { keys: [{ key: former.vkey, until: time }] })
    assert.strictEqual(await until("2026-11-29T18:05:00.000Z"), "ppppppppw")
    assert.strictEqual(await until("2026-11-29T18:04:59.999Z"), "pppppppfw")
    assert.strictEqual(await until("never"), "pppppppfw")
  })

  it("is not one for keys, witnesses or an origin that are others", async () => {
    const stranger = MadeLog.makeKey(origin).vkey
    assert.strictEqual(await resultsOf(good(), { keys: [stranger] }), "pppppppfw")
    assert.strictEqual(await resultsOf(good(), { ...pinned, witnesses: [MadeLog.makeKey("w3", 4).vkey] }), "ppppppppf")
    assert.strictEqual(await resultsOf(good(), { origin: "other.example/log" }), "fssssssss")
    const witness = witnesses.map(({ vkey }) => vkey)
    assert.strictEqual(await resultsOf(good(), { keys: witness }), "pppppppfw", "a witness is not the log")
    for (const keys of [["no key"], [""], [origin]])
      assert.isTrue(
        await verify(JSON.stringify(good()), { keys }).then(
          () => false,
          () => true,
        ),
      )
  })

  it("is checked by less than 400 lines of code", () => {
    const folder = new URL("../../packages/verify/src/", import.meta.url)
    // Another form of receipts (Cose.ts), the command and the page use these, and are not part of them.
    const files = new Set(["verify.ts"])
    for (const file of files)
      for (const [, name = ""] of readFileSync(new URL(file, folder), "utf8").matchAll(
        /^import .* from "\.\/([\w.]+)"/gmu,
      ))
        files.add(name)
    const code = [...files].flatMap((file) => readFileSync(new URL(file, folder), "utf8").split("\n"))
    assert.isAbove(files.size, 6)
    assert.isBelow(code.filter((line) => !/^\s*(?:$|\/\/|\/\*|\*)/u.test(line)).length, 400)
  })
})
