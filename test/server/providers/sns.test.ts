import { Effect, Layer } from "effect"
import type { X509Certificate } from "node:crypto"
import * as AmazonFetch from "../../../apps/server/src/providers/AmazonFetch.ts"
import * as AmazonHost from "../../../apps/server/src/providers/AmazonHost.ts"
import { assert, describe, it, layer } from "../../support/effectTest.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"
import * as Amazon from "./amazon.ts"
import * as Authority from "./authority.ts"
import * as Calls from "./calls.ts"
import { makeHook, setUp } from "./support.ts"

const DAY_MS = 86_400_000

const world = HttpWorld.layer({ zones: Amazon.ZONES }).pipe(Layer.provide(Amazon.layer))

layer(world, { excludeTestServices: true, timeout: "90 seconds" })("notifications of Amazon SNS", (it) => {
  // threat: provider-calls
  it.effect("a certificate counts only if it leads to a root of Amazon", function* () {
    const { mail } = yield* setUp()
    const { send } = yield* makeHook("ses")
    const message = yield* mail("forged-certificate@example.org")
    const { issuer, leaf } = Calls.SNS
    const otherRoot = Authority.issue({ name: "Root of a test", isAuthority: true })
    const otherIssuer = Authority.issue({ name: "Other issuer", isAuthority: true, issuer: otherRoot })
    Amazon.issuers.set("/other.cer", otherIssuer.certificate)
    const customer = leaf({ name: "customer.example", names: ["customer.example"] })
    Amazon.issuers.set("/customer.cer", customer.certificate)
    const at = (path: string) => `http://${Calls.ISSUER_HOST}${path}`
    const pems = (...all: ReadonlyArray<Authority.Authority>) =>
      all.map(({ certificate }) => String(certificate)).join("")
    const self = Authority.issue({ name: "sns.amazonaws.com", names: ["sns.amazonaws.com", Calls.SNS_HOST] })
    const ofCustomer = leaf({ issuer: customer, issuerUrl: at("/customer.cer") })
    const forgeries: ReadonlyArray<readonly [string, Authority.Authority, string?]> = [
      ["signed by itself", self],
      ["signed by itself, with Amazon's issuer behind it", self, pems(self, issuer, Calls.SNS.root)],
      ["of another root with the same name", leaf({ issuer: otherIssuer, issuerUrl: at("/other.cer") })],
      [
        "of another issuer, whose certificates are in the file",
        leaf({ issuer: otherIssuer }),
        pems(leaf({ issuer: otherIssuer }), otherIssuer, otherRoot),
      ],
      ["issued by a certificate that is no authority", ofCustomer],
      ["the same, in one file", ofCustomer, pems(ofCustomer, customer, issuer)],
      ["with an issuer at another address", leaf({ issuerUrl: "http://crt.evil.example/test01.cer" })],
      [
        "with an issuer at an address of Amazon that customers have",
        leaf({ issuerUrl: "http://crt.amazontrust.com.s3.amazonaws.com/test01.cer" }),
      ],
      ["without an address of its issuer", leaf({ issuer: otherIssuer, issuerUrl: "" })],
      ["of another name", leaf({ names: ["s3.amazonaws.com"] })],
      ["of any name", leaf({ names: ["*.amazonaws.com", "*.us-east-1.amazonaws.com"] })],
      ["with the name as subject only", leaf({ names: ["customer.example"] })],
      ["expired", leaf({ from: Date.now() - 9 * DAY_MS, to: Date.now() - DAY_MS })],
      ["not valid yet", leaf({ from: Date.now() + DAY_MS })],
      ["with a short key", leaf({ keys: Authority.rsa(1_024) })],
      ["of an authority", leaf({ isAuthority: true })],
      ["nothing", Calls.SNS_LEAF, "no certificate"],
    ]
    for (const [nth, [name, forged, pem = pems(forged)]] of forgeries.entries()) {
      const path = `/SimpleNotificationService-${nth}.pem`
      Amazon.files.set(path, pem)
      const Message = JSON.stringify(Calls.BODIES.ses(message.about("bounced")))
      const raw = Calls.notification({ Type: "Notification", Message }, Date.now(), {
        key: forged.privateKey,
        url: `https://${Calls.SNS_HOST}${path}`,
      })
      const { text } = yield* send({ raw, headers: {} })
      assert.strictEqual(text, "Refused: certificate_wrong. Nothing was changed.\n", name)
    }
    assert.strictEqual((yield* message.log).status, "queued")
  })

  it.effect("the issuer comes from the file or from Amazon's authority, and the key is remembered", function* () {
    const { mail } = yield* setUp()
    const { send } = yield* makeHook("ses")
    const { leaf } = Calls.SNS
    const chinese = "sns.cn-north-1.amazonaws.com.cn"
    for (const [nth, [name, host, certificate, withIssuer]] of (
      [
        ["alone", Calls.SNS_HOST, leaf(), false],
        ["with its issuer", Calls.SNS_HOST, leaf({ issuerUrl: "http://crt.evil.example/x.cer" }), true],
        ["of a region's own name", Calls.SNS_HOST, leaf({ names: ["sns-signing.us-east-1.amazonaws.com"] }), false],
        ["of China", chinese, leaf({ names: ["sns-cn-north-1.amazonaws.com.cn"] }), false],
      ] as const
    ).entries()) {
      const path = `/SimpleNotificationService-good${nth}.pem`
      const file = [certificate, ...(withIssuer ? [Calls.SNS.issuer] : [])].map((each) => String(each.certificate))
      Amazon.files.set(path, file.join(""))
      const before = Amazon.asked.length
      for (const kind of ["delivered", "complained"] as const) {
        const message = yield* mail(`good-${nth}-${kind}@example.org`)
        const Message = JSON.stringify(Calls.BODIES.ses(message.about(kind)))
        const options = { key: certificate.privateKey, url: `https://${host}${path}` }
        const raw = Calls.notification({ Type: "Notification", Message }, Date.now(), options)
        assert.strictEqual((yield* send({ raw, headers: {} })).text, "Thank you\n", name)
        assert.strictEqual((yield* message.log).status, kind, name)
      }
      assert.deepStrictEqual(Amazon.asked.slice(before), withIssuer ? [path] : [path, "/test01.cer"], name)
    }
  })

  // threat: invalid-input
  it.effect("names that every object has are no type and no version of a signature", function* () {
    const { numbers, send } = yield* makeHook("ses")
    const good = JSON.parse(Calls.notification({ Type: "Notification", Message: "{}" }, Date.now()))
    const names = ["valueOf", "constructor", "__proto__", "toString", "hasOwnProperty"]
    for (const name of names)
      for (const [field, status] of [
        ["Type", 400],
        ["SignatureVersion", 401],
      ] as const) {
        const answer = yield* send({ raw: JSON.stringify({ ...good, [field]: name }), headers: {} })
        assert.strictEqual(answer.status, status, `${field} ${name}`)
      }
    assert.deepInclude(yield* numbers, { refused: 2 * names.length, recorded: 0 })
  })

  it.effect("no certificate is read from a host that is not one of Amazon SNS", function* () {
    const { send } = yield* makeHook("ses")
    const good = JSON.parse(Calls.notification({ Type: "Notification", Message: "{}" }, Date.now()))
    const before = Amazon.asked.length
    for (const host of FOREIGN_HOSTS) {
      const SigningCertURL = `https://${host}/SimpleNotificationService-test.pem`
      const { text } = yield* send({ raw: JSON.stringify({ ...good, SigningCertURL }), headers: {} })
      assert.strictEqual(text, "Refused: host_not_allowed. Nothing was changed.\n", host)
    }
    for (const path of ["/a.pem?x=1", "/?Action=GetFile", "/a.txt"]) {
      const SigningCertURL = `https://${Calls.SNS_HOST}${path}`
      const { text } = yield* send({ raw: JSON.stringify({ ...good, SigningCertURL }), headers: {} })
      assert.strictEqual(text, "Refused: host_not_allowed. Nothing was changed.\n", path)
    }
    assert.strictEqual(Amazon.asked.length, before)
  })
})

const FOREIGN_HOSTS = [
  "sns.s3.amazonaws.com",
  "sns.s3-us-west-2.amazonaws.com",
  "sns.elb.amazonaws.com",
  "sns.a.amazonaws.com",
  "sns.us-east-1.amazonaws.com.cn",
  "sns.cn-north-1.amazonaws.com",
  "sns.us-east-1.amazonaws.com.evil.example",
  "sns.us-east-1.amazonaws.com.",
  "sns-us-east-1.amazonaws.com",
  "x.sns.us-east-1.amazonaws.com",
  "sns.amazonaws.com",
  "sns.us-east-1.amazonaws.com:444",
  "u:p@sns.us-east-1.amazonaws.com",
  "127.0.0.1",
]

describe("the hosts and roots of Amazon", () => {
  it("are those of regions", () => {
    for (const region of [
      "us-east-1",
      "eu-central-2",
      "ap-southeast-7",
      "us-gov-west-1",
      "mx-central-1",
      "il-central-1",
    ])
      assert.strictEqual(AmazonHost.parse(`https://sns.${region}.amazonaws.com/a.pem`)?.pathname, "/a.pem", region)
    for (const region of ["cn-north-1", "cn-northwest-1"])
      assert.isDefined(AmazonHost.parse(`https://sns.${region}.amazonaws.com.cn/a.pem`), region)
    for (const host of FOREIGN_HOSTS) assert.isUndefined(AmazonHost.parse(`https://${host}/a.pem`), host)
    assert.isUndefined(AmazonHost.parse("http://sns.us-east-1.amazonaws.com/a.pem"))
  })

  it.effect("are five certificates that this version of Node trusts too", function* () {
    const { roots } = yield* AmazonFetch.AmazonServers
    const names = roots().map((root: X509Certificate) => /CN=(.*)$/u.exec(root.subject)?.[1])
    assert.sameMembers(names, [
      "Amazon Root CA 1",
      "Amazon Root CA 2",
      "Amazon Root CA 3",
      "Amazon Root CA 4",
      "Starfield Services Root Certificate Authority - G2",
    ])
    yield* Effect.void
  })
})
