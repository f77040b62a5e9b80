import * as Compose from "@waybill/mail/compose/Compose"
import * as Dkim from "@waybill/mail/dkim/Dkim"
import * as DkimKey from "@waybill/mail/dkim/DkimKey"
import type * as Message from "@waybill/mail/compose/Message"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { dkimVerify } from "mailauth/lib/dkim/verify.js"
import { createPublicKey, generateKeyPairSync } from "node:crypto"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { address, message } from "../compose/composeMessage.ts"

/** One pair of keys for the whole file, since generating RSA keys is slow. */
class Keys extends Context.Service<
  Keys,
  { readonly rsa: Dkim.Key; readonly ed25519: Dkim.Key; readonly records: Record<string, string> }
>()("test/Keys") {
  static readonly layer = Layer.effect(
    Keys,
    Effect.gen(function* () {
      const rsa = yield* DkimKey.generateRsa
      const ed25519 = yield* DkimKey.generateEd25519
      return Keys.of({
        rsa: { id: "rsa", domain: "acme.test", selector: "wb1", algorithm: "rsa", privateKey: rsa.privateKey },
        ed25519: {
          id: "ed",
          domain: "acme.test",
          selector: "wb2",
          algorithm: "ed25519",
          privateKey: ed25519.privateKey,
        },
        records: { "wb1._domainkey.acme.test": rsa.record, "wb2._domainkey.acme.test": ed25519.record },
      })
    }),
  )
}

const judge = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const { records } = yield* Keys
  const resolver = (name: string, type: string) => {
    const record = type === "TXT" ? records[name] : undefined
    return record === undefined
      ? Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }))
      : // A TXT string holds at most 255 octets.
        Promise.resolve([record.match(/.{1,255}/g) ?? []])
  }
  return yield* Effect.promise(() => dkimVerify(Buffer.from(bytes), { resolver, strict: true, minBitLength: 2048 }))
})

const results = (bytes: Uint8Array) =>
  Effect.map(judge(bytes), (judged) => judged.results.map((result) => `${result.algo} ${result.status.result}`))

const BOTH = ["rsa-sha256 pass", "ed25519-sha256 pass"]

const composed = (fields: Partial<Message.Message>) => {
  const result = Compose.compose(message(fields))
  if (Result.isFailure(result)) return assert.fail(result.failure.message)
  return result.success.bytes
}

const corpus: Record<string, Partial<Message.Message>> = {
  "plain text": {},
  "an empty body": { text: "" },
  "nothing but blank lines": { text: "\n\n\n" },
  "blank lines of white space": { text: "a\n \n\t\n  \n" },
  "trailing white space": { text: "a \nb\t\nc  \n\n\n" },
  "runs of white space": { text: "a  b\t\tc \t d" },
  "bare CR and LF": { text: "a\rb\nc\r\nd" },
  "dots and From": { text: ".\n..\nFrom me\n" },
  "UTF-8 everywhere": {
    subject: "Přílišžluťoučký kůň 🐎 日本語の長い件名がここにあります、折り返しが必要です",
    from: { address: address("hi@acme.test"), name: "Ærø & Søn" },
    text: "Žluťoučký kůň 🐎",
    html: "<p>日本語</p>",
  },
  "a UTF-8 local part": { to: [{ address: address("žofie@example.org"), name: "Žofie" }] },
  "long headers": {
    subject: "word ".repeat(300),
    headers: { "X-Long": "abc ".repeat(400), "List-Unsubscribe": `<https://a.test/${"u".repeat(800)}>` },
  },
  "many recipients": {
    to: Array.from({ length: 50 }, (_, i) => ({ address: address(`person${i}@example.org`), name: `Pérson ${i}` })),
  },
  unsubscribe: { unsubscribeUrl: "https://u.acme.test/1?x=%20" },
  "references and list headers": {
    headers: {
      "In-Reply-To": "<a@b>",
      References: "<a@b> <c@d>",
      "List-Id": "News <news.acme.test>",
      "Feedback-ID": "1:acme",
      "X-Empty": "",
    },
  },
  attachments: {
    html: "<img src=cid:logo>",
    attachments: [
      { filename: "logo.png", contentId: "logo", content: Uint8Array.from({ length: 3000 }, (_, i) => (i * 7) & 255) },
      { filename: "Žluť.pdf", content: new Uint8Array(1) },
      { filename: "empty.txt", content: new Uint8Array(0) },
    ],
  },
}

layer(Keys.layer)("an independent judge", (it) => {
  for (const [name, fields] of Object.entries(corpus)) {
    it.effect(`passes both signatures over ${name}`, function* () {
      const { ed25519, rsa } = yield* Keys
      assert.deepStrictEqual(yield* results(yield* Dkim.sign(composed(fields), [rsa, ed25519])), BOTH)
    })
  }

  it.effect("passes unusual bodies", function* () {
    const { rsa } = yield* Keys
    const bodies = [
      "",
      "\r\n",
      "\r\n\r\n",
      "a",
      " ",
      "\t\r\n",
      "a\r\n \r\n",
      "a \r\n\r\n",
      "a \r\nb\r\n",
      " a\r\n",
      "a\tb\r\n",
      "\r\n\r\na  \r\n \r\n",
      "a\r\n\r\n \r\n\t",
    ]
    for (const body of bodies) {
      const bytes = Buffer.from(`From: a@acme.test\r\nSubject:  x \t y \r\nTo:\r\n b@c.test\r\n\r\n${body}`)
      assert.deepStrictEqual(yield* results(yield* Dkim.sign(bytes, [rsa])), ["rsa-sha256 pass"], JSON.stringify(body))
    }
  })

  it.effect("passes repeated headers, signed from the last to the first", function* () {
    const { rsa } = yield* Keys
    const bytes = Buffer.from(
      "From: a@acme.test\r\nFeedback-ID: 1\r\nfeedback-id: 2\r\nList-Id: <a>\r\nList-ID: <b>\r\n\r\nx",
    )
    assert.deepStrictEqual(yield* results(yield* Dkim.sign(bytes, [rsa])), ["rsa-sha256 pass"])
  })

  it.effect("passes any number of the same header, whatever was signed before", function* () {
    const { rsa } = yield* Keys
    for (const times of [0, 3, 4, 1, 5, 4, 3, 0]) {
      const bytes = Buffer.from(`From: a@acme.test\r\n${"Precedence: bulk\r\n".repeat(times)}\r\nx`)
      assert.deepStrictEqual(yield* results(yield* Dkim.sign(bytes, [rsa])), ["rsa-sha256 pass"], `${times}`)
    }
  })

  it.effect("fails when a header is added, repeated or changed, or the body is", function* () {
    const { rsa } = yield* Keys
    const signed = Buffer.from(yield* Dkim.sign(composed({ unsubscribeUrl: "https://u.acme.test/1" }), [rsa])).toString(
      "latin1",
    )
    const forgeries = [
      ...[
        "From: evil@acme.test",
        "To: x@y.test",
        "Cc: x@y.test",
        "Subject: evil",
        "Reply-To: evil@x.test",
        "Sender: evil@x.test",
        "Date: now",
        "Message-ID: <x@y>",
        "List-Unsubscribe: <https://evil.test>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        "Content-Type: text/html",
        "Content-Transfer-Encoding: base64",
        "In-Reply-To: <x@y>",
        "References: <x@y>",
      ].map((line) => `${line}\r\n${signed}`),
      signed.replace("Your receipt", "Your invoice"),
      signed.replace("u.acme.test/1", "u.evil.test/1"),
      signed.replace("Thank you.", "Thank yow."),
      `${signed}more\r\n`,
    ]
    for (const forged of forgeries) {
      assert.notStrictEqual(forged, signed)
      const verdicts = yield* results(Buffer.from(forged, "latin1"))
      assert.isFalse(verdicts.includes("rsa-sha256 pass"), forged.slice(0, 60))
    }
    assert.deepStrictEqual(yield* results(Buffer.from(signed, "latin1")), ["rsa-sha256 pass"])
  })

  it.effect("signs the same bytes the same way each time", function* () {
    const { ed25519, rsa } = yield* Keys
    const once = yield* Dkim.sign(composed({}), [rsa, ed25519])
    assert.isTrue(Buffer.from(once).equals(yield* Dkim.sign(composed({}), [rsa, ed25519])))
    assert.isTrue(
      Buffer.from(once)
        .toString()
        .endsWith(Buffer.from(composed({})).toString()),
    )
  })

  it.effect("folds the signature into short lines", function* () {
    const { rsa } = yield* Keys
    const [head = ""] = Buffer.from(yield* Dkim.sign(composed({}), [rsa]))
      .toString()
      .split("\r\nDate:")
    for (const line of head.split("\r\n")) assert.isAtMost(line.length, 78)
  })

  it.effect("fails instead of returning unsigned mail when a key is invalid", function* () {
    const { ed25519, rsa } = yield* Keys
    const weak = generateKeyPairSync("rsa", { modulusLength: 512 }).privateKey.export({
      format: "der",
      type: "pkcs8",
    })
    const broken: ReadonlyArray<readonly [string, ReadonlyArray<Dkim.Key>]> = [
      ["no_key", []],
      ["bad_key", [{ ...rsa, id: "b1", privateKey: Redacted.make(Uint8Array.from([1, 2, 3])) }]],
      ["key_type", [{ ...rsa, id: "b2", algorithm: "ed25519" }]],
      ["key_type", [rsa, { ...ed25519, id: "b3", algorithm: "rsa" }]],
      ["weak_key", [{ ...rsa, id: "b4", privateKey: Redacted.make(weak) }]],
      ["bad_selector", [{ ...rsa, selector: "a;\r\nBcc: x@y.test" }]],
      ["bad_selector", [{ ...rsa, domain: "" }]],
    ]
    for (const [reason, keys] of broken) {
      const result = yield* Effect.result(Dkim.sign(composed({}), keys))
      assert.strictEqual(Result.isFailure(result) ? result.failure.reason : "signed", reason)
    }
    const headless = yield* Effect.result(Dkim.sign(Buffer.from("To: a@b.c\r\n\r\nx"), [rsa]))
    assert.strictEqual(Result.isFailure(headless) ? headless.failure.reason : "signed", "no_from")
  })
})

describe("a generated key", () => {
  it.effect("has a public record that verifies its signatures", function* () {
    const rsa = yield* DkimKey.generateRsa
    const [, p = ""] = /^v=DKIM1; k=rsa; p=([A-Za-z0-9+/=]+)$/.exec(rsa.record) ?? []
    const key = createPublicKey({ key: Buffer.from(p, "base64"), format: "der", type: "spki" })
    assert.strictEqual(key.asymmetricKeyDetails?.modulusLength, DkimKey.RSA_BITS)
    const ed25519 = yield* DkimKey.generateEd25519
    assert.match(ed25519.record, /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/)
  })

  it.effect("does not print its private half", function* () {
    const pair = yield* DkimKey.generateEd25519
    assert.notInclude(JSON.stringify(pair), Buffer.from(Redacted.value(pair.privateKey)).toString("base64"))
    assert.include(String(pair.privateKey), "redacted")
  })
})
