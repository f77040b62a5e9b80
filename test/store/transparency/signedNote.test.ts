import * as Checkpoint from "@waybill/store/transparency/Checkpoint"
import * as SignedNote from "@waybill/store/transparency/SignedNote"
import { describe } from "vitest"
import { assert, it } from "../../support/effectTest.ts"

/** The example of c2sp.org/signed-note. */
const VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
const NOTE = `This is an example message.

\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`

const keyOf = (vkey: string) => {
  const key = SignedNote.parseVkey(vkey)
  assert.isDefined(key)
  return key
}
const noteOf = (text: string) => {
  const note = SignedNote.parse(text)
  assert.isDefined(note)
  return note
}

describe("A signed note", () => {
  it("is verified by the key of the specification's example", () => {
    const key = keyOf(VKEY)
    assert.strictEqual(SignedNote.vkeyOf(key), VKEY)
    assert.deepStrictEqual(SignedNote.signedBy(noteOf(NOTE), [key]), [key])
    assert.deepStrictEqual(SignedNote.signedBy(noteOf(NOTE.replace("message", "massage")), [key]), [])
    assert.isUndefined(SignedNote.parseVkey(VKEY.replace("foo", "fop")))
    assert.isUndefined(SignedNote.parseVkey(VKEY.replace("3U2k", "3U2l")))
  })

  it("carries the signatures of several keys, and is refused if one that it names is false", () => {
    const one = SignedNote.signer("a.test/log", Buffer.alloc(32, 1))
    const other = SignedNote.signer("a.test/log", Buffer.alloc(32, 2))
    const keys = [one, other].map((key) => keyOf(SignedNote.vkeyOf(key)))
    const signed = SignedNote.sign("a.test/log\n0\n", [one, other])
    assert.deepStrictEqual(SignedNote.signedBy(noteOf(signed), keys), keys)
    assert.deepStrictEqual(SignedNote.signedBy(noteOf(SignedNote.sign("x\n", [one])), keys), keys.slice(0, 1))
    const [first = "", second = ""] = signed.split("\n").slice(-3)
    const forged = signed.replace(second, `${second.slice(0, -8)}AAAAAAA=`)
    assert.notStrictEqual(first, "")
    assert.deepStrictEqual(SignedNote.signedBy(noteOf(forged), keys), [])
    for (const text of ["", "a\n", "a\n\n", "a\n\nb\n", "a\n\n\u2014 n\n"]) assert.isUndefined(SignedNote.parse(text))
  })
})

describe("A checkpoint", () => {
  it("is read as it was written", () => {
    const checkpoint = {
      origin: "a.test/log",
      size: 20_852_163,
      root: Buffer.alloc(32, 7),
      extensions: ["continues x"],
    }
    const text = Checkpoint.textOf(checkpoint)
    assert.strictEqual(text, `a.test/log\n20852163\n${Buffer.alloc(32, 7).toString("base64")}\ncontinues x\n`)
    assert.deepStrictEqual(Checkpoint.parse(text), checkpoint)
    for (const bad of ["a\n01\n", "a\n-1\n", "\n1\n", "a\n1\nAAAA\n"])
      assert.isUndefined(Checkpoint.parse(text.replace("a.test/log\n20852163\n", bad)), bad)
  })
})
