import * as DkimSignature from "@waybill/mail/dkim/DkimSignature"
import * as DkimVerify from "@waybill/mail/dkim/DkimVerify"
import { Effect } from "effect"
import { dkimSign } from "mailauth/lib/dkim/sign.js"
import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { assert, describe, it } from "../../support/effectTest.ts"
import { makeSigner } from "../../support/mail/aggregateMail.ts"
import { dnsZones, type Zones } from "../../support/mail/dnsZones.ts"

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 })
const weak = generateKeyPairSync("rsa", { modulusLength: 512 })
const ed25519 = generateKeyPairSync("ed25519")

const spki = (key: KeyObject): string => key.export({ format: "der", type: "spki" }).toString("base64")
const pkcs1 = (key: KeyObject): string => key.export({ format: "der", type: "pkcs1" }).toString("base64")
const bare = (key: KeyObject): string => key.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")

const RSA = `v=DKIM1; k=rsa; p=${spki(rsa.publicKey)}`
const ED = `v=DKIM1; k=ed25519; p=${bare(ed25519.publicKey)}`

const MAIL = Buffer.from(
  [
    "From: Reporter <dmarc@reporter.example>",
    "To: dmarc@bounces.waybill.test",
    "Subject: A report  with\t white space",
    " and a fold",
    "X-Many: 1",
    "X-Many: 2",
    "",
    "First  line \t",
    "",
    "last line  ",
    "",
    "",
    "",
  ].join("\r\n"),
)

interface Options {
  readonly canonicalization?: string
  readonly key?: KeyObject
  readonly algorithm?: string
  readonly headers?: string
  readonly mail?: Buffer
  readonly expires?: Date
}

/** Signed by another implementation than ours. */
const signed = ({
  algorithm = "rsa-sha256",
  canonicalization = "relaxed/relaxed",
  expires,
  headers = "From:To:Subject:X-Many:X-Many",
  key = rsa.privateKey,
  mail = MAIL,
}: Options = {}) =>
  Effect.promise(async () => {
    const { errors, signatures } = await dkimSign(mail, {
      canonicalization,
      algorithm,
      signTime: new Date(1_700_000_000_000),
      ...(expires === undefined ? {} : { expires }),
      strict: false,
      signatureData: [
        {
          signingDomain: "reporter.example",
          selector: "s1",
          privateKey: key.export({ format: "pem", type: "pkcs8" }).toString(),
          headerList: headers.split(":"),
          canonicalization,
          algorithm,
        },
      ],
    } as never)
    if (signatures === "") throw new Error(JSON.stringify(errors))
    return Buffer.concat([Buffer.from(signatures), mail])
  })

const NOW = 1_800_000_000_000

const verify = (bytes: Uint8Array, record: string | Zones = RSA, services: ReadonlyArray<string> = ["email"]) =>
  DkimVerify.firstGenuine(DkimSignature.read(bytes), { services, now: NOW }).pipe(
    Effect.provide(
      dnsZones(typeof record === "string" ? { "s1._domainkey.reporter.example": { TXT: [record] } } : record),
    ),
    Effect.catchTag("KeyUnavailable", () => Effect.succeed("unavailable")),
  )

describe("the verifier of DKIM", () => {
  it.effect("accepts each canonical form and algorithm of another implementation", function* () {
    for (const canonicalization of ["relaxed/relaxed", "relaxed/simple", "simple/relaxed", "simple/simple"]) {
      const bytes = yield* signed({ canonicalization })
      assert.strictEqual(yield* verify(bytes), "reporter.example", canonicalization)
    }
    const bytes = yield* signed({ key: ed25519.privateKey, algorithm: "ed25519-sha256" })
    assert.strictEqual(yield* verify(bytes, ED), "reporter.example")
    for (const mail of [
      "From: a@reporter.example\r\n\r\n",
      "From: a@reporter.example\r\n\r\n\r\n\r\n",
      "From: a@reporter.example\r\n\r\nx",
    ])
      for (const canonicalization of ["relaxed/relaxed", "simple/simple"]) {
        const short = yield* signed({ mail: Buffer.from(mail), canonicalization, headers: "From" })
        assert.strictEqual(yield* verify(short), "reporter.example", JSON.stringify(mail))
      }
  })

  it.effect("refuses a message that was changed", function* () {
    const bytes = yield* signed()
    const text = bytes.toString("latin1")
    const changes: ReadonlyArray<readonly [string, string]> = [
      ["First", "Fjrst"],
      ["dmarc@reporter", "dmbrc@reporter"],
      ["X-Many: 2", "X-Many: 3"],
      ["X-Many: 1\r\n", ""],
      ["d=reporter.example", "d=other.example"],
      ["last line", "last line\r\nmore"],
    ]
    for (const [from, to] of changes) {
      assert.include(text, from)
      assert.isUndefined(yield* verify(Buffer.from(text.replace(from, to), "latin1")), from)
    }
    // White space at the end of lines is free in the relaxed form.
    assert.strictEqual(
      yield* verify(Buffer.from(text.replace("last line  ", "last line"), "latin1")),
      "reporter.example",
    )
  })

  it.effect("accepts our own signatures, and refuses a field added to those that are signed once more", function* () {
    const { record, sign } = yield* makeSigner
    const bytes = yield* sign(MAIL, "reporter.example")
    assert.strictEqual(yield* verify(bytes, record), "reporter.example")
    const added = Buffer.concat([Buffer.from("Subject: another\r\n"), bytes])
    assert.isUndefined(yield* verify(added, record))
  })

  it.effect("refuses signatures that prove too little", function* () {
    const text = (yield* signed()).toString("latin1")
    for (const [from, to] of [
      ["v=1;", "v=2;"],
      ["v=1;", "v=1; l=10;"],
      ["a=rsa-sha256", "a=rsa-sha1"],
      ["v=1;", "v=1; x=1700000001;"],
      ["v=1;", "v=1; i=@other.example;"],
      ["v=1;", "v=1; q=http;"],
      ["v=1;", "v=1; v=1;"],
      ["s=s1;", "s=s1/../x;"],
    ] as const) {
      assert.include(text, from)
      assert.isUndefined(yield* verify(Buffer.from(text.replace(from, to), "latin1")), to)
    }
    const withoutFrom = Buffer.from(text.replace(/:\s*From;/u, ";"), "latin1")
    assert.isUndefined(yield* verify(withoutFrom))
    assert.isUndefined(yield* verify(yield* signed({ key: weak.privateKey }), `v=DKIM1; p=${spki(weak.publicKey)}`))
  })

  it.effect("follows the key record", function* () {
    const bytes = yield* signed()
    const key = spki(rsa.publicKey)
    const accepted = [
      `p=${key}`,
      `v=DKIM1; h=sha1:sha256; s=*; p=${key}`,
      `v=DKIM1; t=s; p=${key}`,
      `v=DKIM1; p=${pkcs1(rsa.publicKey)}`,
    ]
    for (const record of accepted) assert.strictEqual(yield* verify(bytes, record), "reporter.example", record)
    for (const record of [
      `v=DKIM2; p=${key}`,
      "v=DKIM1; p=",
      `v=DKIM1; k=ed25519; p=${key}`,
      `v=DKIM1; h=sha1; p=${key}`,
      `v=DKIM1; s=tlsrpt; p=${key}`,
      `v=DKIM1; t=y; p=${key}`,
      `v=DKIM1; p=${spki(weak.publicKey)}`,
      "v=DKIM1; p=AAAA",
      "not a key",
    ])
      assert.isUndefined(yield* verify(bytes, record), record)
    assert.strictEqual(yield* verify(bytes, `v=DKIM1; s=tlsrpt; p=${key}`, ["email", "tlsrpt"]), "reporter.example")
  })

  it.effect("says nothing while DNS does not answer, and no where there is no key", function* () {
    const bytes = yield* signed()
    assert.strictEqual(yield* verify(bytes, { "s1._domainkey.reporter.example": "SERVFAIL" }), "unavailable")
    assert.isUndefined(yield* verify(bytes, {}))
    assert.isUndefined(yield* verify(MAIL))
  })

  it.effect("reads at most five signatures, and any bytes", function* () {
    const bytes = yield* signed()
    const field = bytes.subarray(0, bytes.length - MAIL.length)
    const forged = Buffer.from(field.toString("latin1").replace("d=reporter", "d=xeporter"), "latin1")
    const after = (count: number) => verify(Buffer.concat([...Array.from({ length: count }, () => forged), bytes]))
    assert.strictEqual(yield* after(DkimSignature.MAX_SIGNATURES - 1), "reporter.example")
    assert.isUndefined(yield* after(DkimSignature.MAX_SIGNATURES))
    for (let cut = 0; cut < bytes.length - 12; cut += 7) assert.isUndefined(yield* verify(bytes.subarray(0, cut)))
  })
})
