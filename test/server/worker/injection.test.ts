import { Duration, Effect, Layer } from "effect"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"
import { HttpWorld } from "../../support/world/HttpWorld.ts"

const HANGS = Duration.seconds(60)
const EVIL = "evil@x.test"
const [ANA, BO, CY] = ["ana@example.org", "bo@example.org", "cy@example.org"] as const

/** Texts that end a line, address, header, command or message somewhere, or decode to such text. */
const PAYLOADS = [
  `\r\nBcc: ${EVIL}`,
  `\nBcc: ${EVIL}`,
  `\rBcc: ${EVIL}`,
  `\r\n\r\nTo: ${EVIL}`,
  `\r\nRCPT TO:<${EVIL}>`,
  `\r\n.\r\nMAIL FROM:<x@x.test>\r\nRCPT TO:<${EVIL}>\r\nDATA\r\nSubject: x\r\n\r\nx\r\n.\r\n`,
  `\n.\nRCPT TO:<${EVIL}>\n`,
  `\0${EVIL}`,
  `\u2028Bcc: ${EVIL}`,
  `\u0085Bcc: ${EVIL}`,
  `\u560d\u560aBcc: ${EVIL}`,
  `, ${EVIL}`,
  `; ${EVIL}`,
  ` <${EVIL}>`,
  `> RCPT TO:<${EVIL}`,
  `" <${EVIL}>, "`,
  ` (${EVIL})`,
  `group: ${EVIL};`,
  `=?utf-8?B?DQpCY2M6IGV2aWxAeC50ZXN0?=`,
  `=?utf-8?Q?=0D=0ABcc:_evil@x.test?=`,
  `%0d%0aBcc:${EVIL}`,
  `\\r\\nBcc: ${EVIL}`,
] as const

type Fields = Readonly<Record<string, unknown>>

/** Fields that the texts are put into. An accepted message must go only to the requested recipients. */
const PLACES: Readonly<Record<string, (payload: string) => Fields>> = {
  subject: (payload) => ({ subject: `Hello${payload}` }),
  text: (payload) => ({ text: `Hello${payload}` }),
  html: (payload) => ({ html: `<p>Hello</p>${payload}` }),
  "the name of the sender": (payload) => ({ from: `"Acme${payload}" <hi@acme.test>` }),
  "behind the sender": (payload) => ({ from: `hi@acme.test${payload}` }),
  "the name of a recipient": (payload) => ({ to: [`"Ana${payload}" <${ANA}>`] }),
  "a bare name": (payload) => ({ to: [`Ana${payload} <${ANA}>`] }),
  "behind a recipient": (payload) => ({ to: [`${ANA}${payload}`] }),
  "before a recipient": (payload) => ({ to: [`${payload}${ANA}`] }),
  "behind a copy": (payload) => ({ cc: [`${BO}${payload}`] }),
  "behind a blind copy": (payload) => ({ bcc: [`${CY}${payload}`] }),
  "behind an address for answers": (payload) => ({ reply_to: `hi@acme.test${payload}` }),
  "the name of a header": (payload) => ({ headers: { [`X-A${payload}`]: "v" } }),
  "the value of a header": (payload) => ({ headers: { "X-A": `v${payload}` } }),
  "a header of the service": (payload) => ({ headers: { Bcc: EVIL, To: `${EVIL}${payload}` } }),
  "a tag": (payload) => ({ tags: [`t${payload}`.slice(0, 64)] }),
  "the name of a file": (payload) => ({ attachments: [{ filename: `f${payload}`, content: "aGk=" }] }),
  "the type of a file": (payload) => ({
    attachments: [{ filename: "f", content: "aGk=", content_type: `text/plain${payload}` }],
  }),
  "the id of a file": (payload) => ({
    html: "x",
    attachments: [{ filename: "f", content: "aGk=", content_id: `i${payload}` }],
  }),
}

/**
 * Whom a request names. What stands right before an address belongs to it: an encoded word is a legal local part
 * (RFC 5322 §3.2.3), which nobody on the way may decode.
 */
const named = (place: string, payload: string) => [place === "before a recipient" ? `${payload}${ANA}` : ANA, BO, CY]

const MESSAGE = { from: "hi@acme.test", to: [ANA], cc: [BO], bcc: [CY], subject: "Hello", text: "Hello" }

layer(HttpWorld.layer(), { excludeTestServices: true, timeout: 60_000 })(
  "injected characters in a send request",
  (it) => {
    // threat: injected-lines
    it.effect(
      "reaches the envelope of nobody, wherever it stands",
      function* () {
        const world = yield* HttpWorld
        const key = yield* world.key(yield* world.account(), { scopes: ["admin"] })
        const added = yield* world.request("POST", "/v1/domains", { key: key.secret, body: { name: "acme.test" } })
        assert.strictEqual(added.status, 201)
        const server = yield* SmtpServer.listen({ smtputf8: true })
        const { url } = yield* Database.Fresh
        yield* Layer.build(World.worker(url, { relay: World.relay(server) }))

        const taken = new Map<string, { readonly what: string; readonly to: ReadonlyArray<string> }>()
        const statuses = new Map<number, number>()
        for (const [place, fields] of Object.entries(PLACES)) {
          for (const payload of PAYLOADS) {
            const { json, status, text } = yield* world.request("POST", "/v1/email/send", {
              key: key.secret,
              body: { ...MESSAGE, ...fields(payload) },
            })
            const what = `${place}: ${JSON.stringify(payload)}`
            assert.include([200, 400], status, `${what}: ${text}`)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            if (status === 200) taken.set(`${json.id}@acme.test`, { what, to: named(place, payload) })
          }
        }
        // Some texts must be accepted: a corpus that is refused as a whole would prove nothing.
        assert.isAbove(statuses.get(200) ?? 0, 100)
        assert.isAbove(statuses.get(400) ?? 0, 100)

        yield* World.until(
          Effect.sync(() => server.counts.size),
          (arrived) => arrived >= taken.size,
          HANGS,
        )
        assert.strictEqual(server.mails.length, taken.size)
        for (const { bytes, messageId, to } of server.mails) {
          const asked = taken.get(messageId)
          const what = asked?.what ?? `a mail that nobody sent: ${messageId}`
          assert.deepStrictEqual(to.toSorted(), asked?.to.toSorted(), what)
          const [head = ""] = bytes.toString("utf8").split("\r\n\r\n")
          const names = head.split("\r\n").flatMap((line) => /^([^\s:]+):/u.exec(line)?.[1]?.toLowerCase() ?? [])
          assert.isFalse(names.includes("bcc"), what)
          for (const name of ["from", "to", "cc", "subject", "date", "message-id"])
            assert.strictEqual(names.filter((each) => each === name).length, 1, `${what}: ${name}`)
          assert.notInclude(bytes.toString("utf8"), CY, what)
        }
        const commands = server.lines.filter((line) => line.includes("evil"))
        assert.deepStrictEqual(commands, [])
      },
      120_000,
    )
  },
)
