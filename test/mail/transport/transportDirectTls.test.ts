import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type * as MtaSts from "@waybill/mail/dns/MtaSts"
import { assert, describe, it } from "../../support/effectTest.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { pair, using } from "../smtp/mxPair.ts"
import { short } from "./outgoing.ts"

describe("direct delivery: opportunistic TLS", () => {
  it.effect("is used when offered, whoever issued the certificate", function* () {
    const world = yield* pair({ starttls: SmtpServer.selfSigned })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]))
    assert.deepStrictEqual([outcome?.status, outcome?.tls], ["delivered", "TLSv1.3"])
  })

  it.effect("that fails is replaced by clear text, and is not tried again for an hour", function* () {
    const world = yield* pair({
      starttls: SmtpServer.selfSigned,
      script: ({ phase }) => (phase === "starttls" ? "broken-tls" : undefined),
    })
    const outcomes = yield* using(world, (deliver) =>
      Effect.gen(function* () {
        const first = yield* deliver(["ana@acme.test"])
        yield* TestClock.adjust("30 minutes")
        const second = yield* deliver(["ben@acme.test"])
        yield* TestClock.adjust("31 minutes")
        return [...first, ...second, ...(yield* deliver(["cy@acme.test"]))]
      }),
    )
    assert.deepStrictEqual(
      outcomes.map((outcome) => [outcome.status, outcome.tls, outcome.mx]),
      [
        ["delivered", null, "mx1.acme.test"],
        ["delivered", null, "mx1.acme.test"],
        ["delivered", null, "mx1.acme.test"],
      ],
    )
    assert.strictEqual(world.mx1?.lines.filter((line) => line === "STARTTLS").length, 2)
  })

  it.effect("below version 1.2 is not used", function* () {
    const world = yield* pair({
      starttls: {
        ...SmtpServer.selfSigned,
        minVersion: "TLSv1",
        maxVersion: "TLSv1.1",
        ciphers: "DEFAULT@SECLEVEL=0",
      },
    })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]))
    assert.deepStrictEqual([outcome?.status, outcome?.tls], ["delivered", null])
  })
})

describe("direct delivery: a domain with an enforced MTA-STS policy", () => {
  const policy = (...mx: ReadonlyArray<string>): Record<string, MtaSts.Policy> => ({
    "acme.test": { mode: "enforce", mx, max_age_ms: 1 },
  })
  it.effect("gets mail over TLS with a valid certificate", function* () {
    const world = yield* pair({ starttls: SmtpServer.certified })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]), {}, policy("mx1.acme.test"))
    assert.deepStrictEqual([outcome?.status, outcome?.tls], ["delivered", "TLSv1.3"])
  })

  const refusals: ReadonlyArray<readonly [string, SmtpServer.Options, string]> = [
    ["does not offer TLS", {}, "mx1.acme.test"],
    ["has a certificate of somebody else", { starttls: SmtpServer.selfSigned }, "mx1.acme.test"],
    [
      "breaks off TLS",
      {
        starttls: SmtpServer.certified,
        script: ({ phase }) => (phase === "starttls" ? "broken-tls" : undefined),
      },
      "mx1.acme.test",
    ],
    ["is not listed", { starttls: SmtpServer.certified }, "other.acme.test"],
  ]
  for (const [name, options, listed] of refusals) {
    it.effect(`gets no mail through a server that ${name}`, function* () {
      const world = yield* pair(options)
      const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]), {}, policy(listed))
      assert.strictEqual(short(outcome), "deferred tls", String(outcome?.response))
      assert.deepStrictEqual([...(world.mx1?.mails ?? []), ...world.mx2.mails], [])
    })
  }

  it.effect("gets mail through the listed server", function* () {
    const world = yield* pair({}, { starttls: SmtpServer.certified })
    const [outcome] = yield* using(world, (deliver) => deliver(["ana@acme.test"]), {}, policy("*.acme.test"))
    assert.deepStrictEqual([outcome?.status, outcome?.mx, outcome?.tls], ["delivered", "mx2.acme.test", "TLSv1.3"])
  })

  it.effect("never gets mail over a session opened without checks", function* () {
    const world = yield* pair({ starttls: SmtpServer.selfSigned })
    world.dns.set("b.test", {
      MX: [
        [10, "mx1.acme.test"],
        [20, "mx2.acme.test"],
      ],
    })
    const outcomes = yield* using(
      world,
      (deliver) => Effect.all([deliver(["ana@b.test"]), deliver(["ana@acme.test"])]),
      {},
      policy("mx1.acme.test"),
    )
    assert.deepStrictEqual(outcomes.flat().map(short), ["delivered", "deferred tls"])
  })
})
