import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  parseCheckpoint,
  parseNote,
  parseSignature,
  parseVkey,
  verifyNote,
} from "../../packages/verify/src/SignedNote.ts"
import { assert, describe, it } from "../support/effectTest.ts"
import { makeKey, sha256 } from "./MadeLog.ts"

/** The example of c2sp.org/signed-note. */
const VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
const NOTE = `This is an example message.

\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`
/** The example of c2sp.org/tlog-cosignature. */
const COSIGNED = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
\u2014 witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
`

const isRefused = (run: () => unknown): Promise<boolean> =>
  Promise.resolve()
    .then(run)
    .then(
      () => false,
      () => true,
    )

describe("signed notes", () => {
  it("are those of the specifications", async () => {
    const note = parseNote(NOTE)
    const key = await parseVkey(VKEY)
    assert.deepStrictEqual([key.name, key.id, key.kind], ["example.com/foo", "530d903a", "log"])
    assert.deepStrictEqual(await verifyNote(note, key), { result: "valid" })
    assert.deepStrictEqual(await verifyNote({ ...note, text: `${note.text} ` }, key), { result: "invalid" })
    assert.deepStrictEqual(await verifyNote(note, { ...key, name: "example.com/bar" }), { result: "missing" })
    assert.deepStrictEqual(await verifyNote(note, { ...key, id: "530d903b" }), { result: "missing" })

    const { signatures, text } = parseNote(COSIGNED)
    const { extensions, origin, root, size } = parseCheckpoint(text)
    assert.deepStrictEqual([origin, size, extensions], ["example.com/behind-the-sofa", 20852163, []])
    assert.strictEqual(Buffer.from(root).toString("base64"), "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=")
    assert.deepStrictEqual(
      signatures.map(({ id, name, signature }) => [name, id, signature.length]),
      [
        ["example.com/behind-the-sofa", "033de0ae", 64],
        ["witness.example.com/w1", "8d66cf3f", 72],
      ],
    )
  })

  it("are signed by openssl, and by witnesses with a time", async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), "waybill-notes-"))
    try {
      const [key, text] = [makeKey("log.example.org"), `log.example.org\n1\n${sha256("").toString("base64")}\n`]
      writeFileSync(join(folder, "key.pem"), key.privateKey.export({ format: "pem", type: "pkcs8" }))
      writeFileSync(join(folder, "text"), text)
      const args = ["pkeyutl", "-sign", "-rawin", "-inkey", "key.pem", "-in", "text"]
      let signature: Buffer
      try {
        signature = execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
      } catch {
        return skip("there is no openssl 3 on this machine")
      }
      const vkey = await parseVkey(key.vkey)
      const line = Buffer.concat([Buffer.from(vkey.id, "hex"), signature]).toString("base64")
      const note = parseNote(`${text}\n\u2014 log.example.org ${line}\n`)
      assert.deepStrictEqual(await verifyNote(note, vkey), { result: "valid" })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("have cosignatures, which say when", async () => {
    const witness = makeKey("witness.example.org/w1", 4)
    const { text } = parseNote(COSIGNED)
    const key = await parseVkey(witness.vkey)
    const signed = { text, signatures: [parseSignature(witness.cosign(text, 1679315147))] }
    assert.deepStrictEqual(await verifyNote(signed, key), { result: "valid", time: 1679315147 })
    const [line = ""] = [witness.cosign(text, 1679315147)]
    const bytes = Buffer.from(line.split(" ")[2] ?? "", "base64")
    bytes.writeUInt8(bytes.readUInt8(11) ^ 1, 11)
    const later = { text, signatures: [parseSignature(`\u2014 ${witness.name} ${bytes.toString("base64")}`)] }
    assert.deepStrictEqual(await verifyNote(later, key), { result: "invalid" })
    // A signature of the text alone is not one of a witness.
    const plain = { text, signatures: [parseSignature(witness.sign(text))] }
    assert.deepStrictEqual(await verifyNote(plain, key), { result: "invalid" })
  })

  it("are refused in any other form", async () => {
    const changes: ReadonlyArray<readonly [from: string, to: string]> = [
      ["\n\n\u2014", "\n\u2014"],
      ["\u2014 example", "- example"],
      ["\u2014 ", "\u2014  "],
      ["com/foo Uw", "com/foo  Uw"],
      ["com/foo Uw", "com/f+o Uw"],
      ["com/foo Uw", "com/f\u00a0o Uw"],
      ["aQM=", "aQN="],
      ["aQM=", "aQM"],
      ["aQM=\n", "aQM="],
      ["aQM=\n", "aQM=\n\n"],
      ["aQM=\n", "aQM=\r\n"],
      ["message", "mes\tsage"],
      ["message", "mes\u0000sage"],
      ["message", "mes\ud800sage"],
      ["Uw2QOkn8", "Uw2QOk-8"],
    ]
    for (const [from, to] of changes) {
      assert.include(NOTE, from)
      assert.throws(() => parseNote(NOTE.replace(from, to)), Error, undefined, JSON.stringify(to))
    }
    assert.throws(() => parseNote("text only\n\n"))
    assert.throws(() => parseNote(`a\n\n${"\u2014 a AAAAAAAA\n".repeat(65)}`))
    for (const vkey of [
      VKEY.replace("530d903a", "530d903b"),
      VKEY.replace("530d903a", "530D903A"),
      VKEY.replace("foo", "bar"),
      VKEY.replace("U2k", "U2l"),
      VKEY.slice(0, -1),
      VKEY.slice("example.com/foo".length),
      `example.com/foo+530d903a+${Buffer.alloc(33, 2).toString("base64")}`,
      "",
    ])
      assert.isTrue(await isRefused(() => parseVkey(vkey)), vkey)
  })

  it("are checkpoints of an origin, a size and a root", () => {
    const root = sha256("").toString("base64")
    assert.strictEqual(parseCheckpoint(`a b+c\n0\n${root}\n`).size, 0)
    assert.deepStrictEqual(parseCheckpoint(`a\n7\n${root}\nmore\n`).extensions, ["more"])
    for (const text of [
      `a\n7\n${root}`,
      `\n7\n${root}\n`,
      `a\n07\n${root}\n`,
      `a\n+7\n${root}\n`,
      `a\n-7\n${root}\n`,
      `a\n7.0\n${root}\n`,
      `a\n\n${root}\n`,
      `a\n9007199254740992\n${root}\n`,
      `a\n7\n${root.slice(4)}\n`,
      `a\n7\n${root}\n\nmore\n`,
    ])
      assert.throws(() => parseCheckpoint(text), Error, undefined, text)
  })
})
