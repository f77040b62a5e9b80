import { assert, it } from "@effect/vitest"
import * as Authentication from "@waybill/mail/incoming/Authentication"
import * as Dns from "@waybill/mail/dns/Dns"
import { Effect } from "effect"

const client = { address: "127.0.0.1", helo: "mx.example.org", from: "", receiver: "mx.test" }
const SIGNED = "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=a.test; s=x; h=from; bh=A; b=A\r\n"
const MAIL = "From: a@a.test\r\n\r\nHello\r\n"

// Each of them held up the library for seconds to minutes.
const ENDLESS = {
  "a field of folds": `Subject: ${"\r\n ".repeat(5000)}\r\n${MAIL}`,
  "a signature of spaces": `DKIM-Signature: v=1; d=a.test; s=x; h=from; bh=A; b=${" ".repeat(16_000)}A\r\n${MAIL}`,
  "a long field": `Subject: ${"a,".repeat(Authentication.MAX_FIELD_BYTES / 2)}\r\n${MAIL}`,
  "a body of spaces": `${SIGNED}${MAIL}${" ".repeat(24 * 1024 * 1024)}x`,
  "a body of blank lines": `${SIGNED}${MAIL}${" \r\n".repeat(1024 * 1024)}x`,
}

const judge = (mail: string) =>
  Authentication.judge(Buffer.from(mail), client).pipe(
    Effect.provideService(
      Dns.Dns,
      Dns.Dns.of(new Proxy({}, { get: () => () => Effect.succeed(Dns.notFound("NXDOMAIN")) }) as never),
    ),
  )

it.effect.each(Object.entries(ENDLESS))("does not judge a mail with %s", ([, mail]) =>
  Effect.gen(function* () {
    assert.strictEqual((yield* judge(mail)).dmarc, "permerror")
  }),
)

it.effect("judges a mail with a signature whose key is missing", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(
      (yield* judge(`${SIGNED}${MAIL}`)).dkim.map(({ domain }) => domain),
      ["a.test"],
    )
  }),
)
