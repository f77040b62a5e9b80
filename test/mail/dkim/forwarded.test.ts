import { assert, describe, it } from "@effect/vitest"
import type { Authentication } from "@waybill/domain/inbound/InboundState"
import type * as Id from "@waybill/domain/values/Id"
import type { Address } from "@waybill/domain/values/Address"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { bodyHash } from "@waybill/mail/dkim/bodyHash"
import * as ArcSeal from "@waybill/mail/dkim/ArcSeal"
import { fields } from "@waybill/mail/dkim/DkimCanonical"
import { type ForwardedMail, forwardedMail } from "@waybill/mail/inbound/forwardedMail"
import { Effect, Redacted } from "effect"
import { authenticate } from "mailauth"
import { sealMessage } from "mailauth/lib/arc/index.js"
import { dkimSign } from "mailauth/lib/dkim/sign.js"
import { generateKeyPairSync } from "node:crypto"
import { processorMs } from "../../support/processorMs.ts"

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
const RECORD = `v=DKIM1; k=rsa; p=${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`
const PEM = privateKey.export({ format: "pem", type: "pkcs8" }).toString()
const KEY = {
  id: "test key of forwards",
  domain: "acme.test",
  selector: "wb1",
  algorithm: "rsa" as const,
  privateKey: Redacted.make<Uint8Array>(privateKey.export({ format: "der", type: "pkcs8" })),
}

/** DNS in which every key is the same. */
const resolver = async (name: string, type: string) => {
  if (type === "TXT" && name.includes("._domainkey.")) return [[RECORD]]
  throw Object.assign(new Error(name), { code: "ENOTFOUND" })
}
const judge = (bytes: Uint8Array) =>
  Effect.promise(async () => {
    const { arc, dkim } = await authenticate(Buffer.from(bytes), {
      ip: "127.0.0.1",
      helo: "mx.test",
      sender: "b@bounces.test",
      mta: "mx.test",
      disableBimi: true,
      resolver: resolver as never,
    })
    return [arc === false ? "none" : arc.status.result, ...dkim.results.map(({ status }) => status.result)]
  })

const PLAIN = [
  "From: Ana <ana@example.org>",
  "To: Support <support@acme.test>",
  "Subject: Where   is\tit?",
  "Message-ID: <one@example.org>",
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
  "Content-Transfer-Encoding: 8bit",
  "",
  "Hello  \tthere, Grüße ",
  "",
  "",
  "",
].join("\r\n")

const signed = Effect.promise(async () => {
  const { signatures } = await dkimSign(Buffer.from(PLAIN), {
    canonicalization: "simple/simple",
    algorithm: "rsa-sha256",
    signatureData: [{ signingDomain: "example.org", selector: "s1", privateKey: PEM }],
  } as never)
  return Buffer.from(`${signatures}${PLAIN}`)
})

const AUTH: Authentication = {
  spf: "pass",
  dkim: [{ domain: "example.org", result: "pass" }],
  dmarc: "pass",
  arc: "none",
}

const tryForward = (bytes: Uint8Array, auth: Partial<Authentication> = {}): ForwardedMail | undefined =>
  forwardedMail(bytes, {
    inbound_id: "inb_01m7ynaym0e008000000000001" as Id.InboundId,
    at: Timestamp.fromMillis(1_795_000_000_000),
    envelope: {
      from: "ana@example.org",
      to: ["support@acme.test" as Address],
      remote_ip: "203.0.113.7",
      helo: "mx.example.org\r\nX-Evil: 1",
      tls: "TLSv1.3",
    },
    author: "ana@example.org",
    auth: { ...AUTH, ...auth },
    server: "mx.acme.test",
    headers: [["X-Own", "1"]],
    messageId: "<own@acme.test>",
  })

const forward = (bytes: Uint8Array, auth?: Partial<Authentication>): ForwardedMail => {
  const mail = tryForward(bytes, auth)
  if (mail === undefined) throw new Error("the mail is not forwarded")
  return mail
}

const seal = Effect.fnUntraced(function* ({ bytes, findings }: ForwardedMail) {
  const set = findings === undefined ? "" : yield* ArcSeal.seal(bytes, findings, KEY, bodyHash(bytes))
  return Buffer.concat([Buffer.from(set, "latin1"), bytes])
})

describe("a forwarded mail", () => {
  it.effect("has its own bytes below the trace, and a chain that others find whole, hop after hop", () =>
    Effect.gen(function* () {
      const original = yield* signed
      const first = yield* seal(forward(original))
      assert.isTrue(first.subarray(-original.length).equals(original))
      assert.deepStrictEqual(yield* judge(first), ["pass", "pass"])
      const head = first.toString().slice(0, -original.length)
      assert.match(
        head,
        /ARC-Authentication-Results: i=1; mx\.acme\.test;\r\n spf=pass smtp\.mailfrom=ana@example\.org;/u,
      )
      assert.match(head, /Received: from unknown \(\[203\.0\.113\.7\]\)\r\n by mx\.acme\.test with ESMTPS id inb_/u)
      assert.notInclude(head, "Evil")
      // The same attempt again is the same mail.
      assert.isTrue((yield* seal(forward(original))).equals(first))

      const second = yield* seal(forward(first, { arc: "pass" }))
      assert.match(second.toString(), /^ARC-Seal: i=2; a=rsa-sha256; cv=pass;/u)
      assert.deepStrictEqual(yield* judge(second), ["pass", "pass"])
      // A hop of others between ours.
      const sealOfOthers = yield* Effect.promise(() =>
        sealMessage(second, {
          signingDomain: "other.test",
          selector: "x",
          privateKey: PEM,
          authResults: "mx.other.test; arc=pass",
          cv: "pass",
        } as never),
      )
      const third = Buffer.concat([sealOfOthers, second])
      assert.deepStrictEqual(yield* judge(third), ["pass", "pass"])
      const fourth = yield* seal(forward(third, { arc: "pass" }))
      assert.match(fourth.toString(), /^ARC-Seal: i=4;/u)
      assert.deepStrictEqual(yield* judge(fourth), ["pass", "pass"])

      const changed = Buffer.from(fourth.toString().replace("Hello", "Hallo"))
      assert.deepStrictEqual(yield* judge(changed), ["fail", "neutral"])
    }),
  )

  it.effect("is not sealed on top of a chain that is broken, incomplete or not as it was found", () =>
    Effect.gen(function* () {
      const first = yield* seal(forward(yield* signed))
      const isSealed = Effect.fnUntraced(function* (bytes: Uint8Array, arc: Authentication["arc"]) {
        const mail = forward(bytes, { arc })
        return (yield* seal(mail)).length > mail.bytes.length
      })
      assert.isTrue(yield* isSealed(first, "pass"))
      for (const arc of ["fail", "temperror", "none"] as const) assert.isFalse(yield* isSealed(first, arc))
      const withoutSeal = Buffer.from(
        first.toString("latin1").replace(/^ARC-Seal:(?:[^\r]|\r\n[ ])*\r\n/u, ""),
        "latin1",
      )
      assert.isFalse(yield* isSealed(withoutSeal, "pass"))
      assert.isFalse(yield* isSealed(Buffer.concat([first.subarray(0, first.indexOf("Received:")), first]), "pass"))
      assert.isFalse(yield* isSealed(yield* signed, "pass"))
    }),
  )

  it.effect("costs little whatever its header is, and one of many fields is not sealed", () =>
    Effect.gen(function* () {
      const most = ArcSeal.MAX_HEADER_BYTES - 1_000
      const fill = (field: string) => field.repeat(most / field.length).trimEnd()
      const headers = {
        "octets beyond ASCII": fill(`From: ${"\u0080".repeat(150)}\r\n`),
        fields: fill("Cc: a@b\r\n"),
        sets: fill(`ARC-Seal: i=1;${" ;".repeat(20)}\r\n`),
        steering: fill("X-SMTPAPI: {}\r\n"),
      }
      for (const [name, header] of Object.entries(headers)) {
        const mail = forward(Buffer.from(`${header}\r\nFrom: a@b.test\r\n\r\nx\r\n`, "latin1"))
        const began = processorMs()
        if (name !== "steering") assert.isTrue((yield* seal(mail)).equals(mail.bytes), name)
        assert.isBelow(processorMs() - began, 3_000, name)
      }
    }),
  )

  it("is not sent on with a header that no program writes", () => {
    const fields = { small: 6_500_000, large: 1 }
    for (const [name, count] of Object.entries(fields)) {
      const field = `a: ${"x".repeat(ArcSeal.MAX_HEADER_BYTES / count)}\r\n`
      const bytes = Buffer.from(`${field.repeat(count)}\r\nx\r\n`)
      const began = processorMs()
      assert.isUndefined(tryForward(bytes), name)
      assert.isBelow(processorMs() - began, 250, name)
    }
  })

  // threat: steering-headers
  it("leaves out what steers a provider, however it is written, and nothing else", () => {
    const steering = [
      'X-SMTPAPI: {"to":["victim@example.net"]}',
      "x_smtpapi : {}",
      "X-MC-BccAddress\r\n : victim@example.net",
      "X-SMTPAPI\0: {}",
      "X-MC-\r\n BccAddress: victim@example.net",
      "X-SES-CONFIGURATION-SET: a\r\n\tb",
      "Bcc: victim@example.net",
      "Return-Path: <victim@example.net>",
    ]
    for (const field of steering)
      for (const mail of [
        `${field}\r\n${PLAIN}`,
        PLAIN.replace("\r\n\r\n", `\r\n${field}\r\n\r\n`),
        ` ${field}\r\n${PLAIN}`,
      ]) {
        const text = forward(Buffer.from(mail)).bytes.toString()
        assert.isTrue(text.endsWith(PLAIN), JSON.stringify(field))
        assert.notMatch(text, /victim|smtpapi|x-mc|x-ses/iu)
      }
    // The body is not the header.
    for (const mail of [`${PLAIN}Bcc: x\r\n\r\nBcc: y\r\n`, `\r\n${PLAIN}Bcc: x\r\n\r\n`])
      assert.isTrue(forward(Buffer.from(mail)).bytes.toString().endsWith(mail))
    assert.match(forward(Buffer.from("Bcc: x\r\nA: b")).bytes.toString(), /\r\nA: b\r\n$/u)
  })

  it("keeps its first line out of the fields of this server", () => {
    for (const space of [" ", "\t"]) {
      const { bytes } = forward(Buffer.from(`${space}forged\r\n${PLAIN}`))
      const comments = fields(Buffer.from(bytes), bytes.length).find(({ raw }) => raw.includes("forged"))
      assert.strictEqual(comments?.name, "comments")
    }
    assert.notInclude(forward(Buffer.from(PLAIN)).bytes.toString(), "Comments:")
  })

  it("gets a Message-ID if it has none, and SMTPUTF8 only for an address that needs it", () => {
    const without = Buffer.from(PLAIN.replace(/Message-ID:.*\r\n/u, ""))
    assert.include(forward(without).bytes.toString(), "Message-ID: <own@acme.test>\r\n")
    assert.notInclude(forward(Buffer.from(PLAIN)).bytes.toString(), "<own@acme.test>")
    const from = (text: string) => forward(Buffer.from(PLAIN.replace("Ana <ana@example.org>", text))).smtpUtf8
    assert.deepStrictEqual(["Grün <ana@example.org>", "grün@example.org", "ana@grün.example"].map(from), [
      false,
      true,
      true,
    ])
  })
})
