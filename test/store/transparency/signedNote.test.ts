import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { parseNote, parseVkey } from "@waybill/verify/SignedNote"
import { signing } from "@waybill/verify/signing"
import { describe } from "vitest"
import { assert, it } from "../../support/effectTest.ts"

describe("A signed note", () => {
  const one = SignedNote.signer("a.test/log", Buffer.alloc(32, 1))
  const other = SignedNote.signer("a.test/log", Buffer.alloc(32, 2))
  const keys = [one, other].map(SignedNote.vkeyOf)
  const signed = SignedNote.sign("a.test/log\n0\n", [one, other])

  it("has a key as the example of the specification has it", async () => {
    const vkey = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
    const { key, name } = await parseVkey(vkey)
    assert.strictEqual(SignedNote.vkeyOf({ name, key }), vkey)
  })

  it("carries the signatures of several keys, and is refused if one that it names is false", async () => {
    assert.deepStrictEqual(await signing(parseNote(signed), keys), keys)
    assert.deepStrictEqual(await signing(parseNote(SignedNote.sign("x\n", [one])), keys), keys.slice(0, 1))
    const second = signed.split("\n").at(-2) ?? ""
    const forged = parseNote(signed.replace(second, `${second.slice(0, -8)}AAAAAAA=`))
    assert.strictEqual(
      await signing(forged, keys).catch((error: Error) => error.message),
      "the signature of a.test/log is wrong",
    )
  })

  it("says by whom it is signed", () => {
    assert.deepStrictEqual(SignedNote.signersOf(signed, [other, one]), [other, one])
    assert.deepStrictEqual(SignedNote.signersOf(SignedNote.sign("x\n", [other]), [one, other]), [other])
  })
})
