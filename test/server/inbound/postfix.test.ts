import { Sql } from "@waybill/store/postgres/Sql"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import nodemailer from "nodemailer"
import * as OpenDkim from "../../bench/postfix/OpenDkim.ts"
import * as Postfix from "../../bench/postfix/Postfix.ts"
import * as Tools from "../../bench/postfix/tools.ts"
import { assert, describe, layer } from "../../support/effectTest.ts"
import * as DnsServer from "../../support/mail/dnsServer.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const found = Tools.findPostfix()
const opendkim = Tools.find("opendkim")
const missing = [
  ...(typeof found === "string" ? [found] : []),
  ...(opendkim === undefined ? ["opendkim is not installed"] : []),
]
const TIMEOUT = 240_000
/** Addresses on which a server listens, and how Postfix names them. */
const FAMILIES = { "127.0.0.1": "[127.0.0.1]", "::1": "[::1]" }

const mail = (subject: string, from: string) => ({
  envelope: { from, to: ["support+42@shop.test"] },
  from: `Ana <${from}>`,
  to: "support+42@shop.test",
  subject,
  text: "Where is my order?\n",
  messageId: `<${subject}@example.org>`,
})

const start = Effect.gen(function* () {
  if (typeof found === "string" || opendkim === undefined) return yield* Effect.die(new Error(missing.join()))
  const { url } = yield* Database.Fresh
  const folder = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const made = await fs.mkdtemp(path.join(os.tmpdir(), "waybill-postfix-"))
      // The users of Postfix need access to the folder.
      await fs.chmod(made, 0o711)
      return made
    }),
    (made) => Effect.promise(() => fs.rm(made, { recursive: true, force: true })),
  )
  const signer = yield* Effect.acquireRelease(
    Effect.promise(() => OpenDkim.start(opendkim, folder, "example.org")),
    ({ stop }) => Effect.promise(stop),
  )
  const dns = yield* DnsServer.listen({
    "example.org": { TXT: ["v=spf1 ip4:127.0.0.1 ip6:::1 -all"] },
    "_dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] },
    [`${OpenDkim.SELECTOR}._domainkey.example.org`]: { TXT: [signer.record] },
    "forged.org": { TXT: ["v=spf1 -all"] },
    "_dmarc.forged.org": { TXT: ["v=DMARC1; p=reject"] },
  })
  /** A server on an address, and a Postfix that hands all mail to it, only over TLS. */
  const pair = Effect.fnUntraced(function* (address: keyof typeof FAMILIES) {
    const port = yield* Effect.promise(freePort)
    const node = yield* ServiceProcess.start(url, {
      HOST: address,
      MAIL_PORT: String(port),
      DNS_SERVERS: dns.server,
      SMTP_TLS_CERT: fixture("selfsigned.pem"),
      SMTP_TLS_KEY: fixture("selfsigned.key"),
    })
    const postfix = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const own = path.join(folder, address.replaceAll(":", "_"))
        await fs.mkdir(own, { mode: 0o711 })
        return Postfix.start(found, own, port, signer.port, {
          myhostname: "mx.example.org",
          inet_protocols: "all",
          relayhost: `${FAMILIES[address]}:${port}`,
          smtp_tls_security_level: "encrypt",
        })
      }),
      ({ stop }) => Effect.promise(stop),
    )
    const send = (subject: string, from = "ana@example.org") =>
      Effect.promise(async () => {
        const client = nodemailer.createTransport({ host: "127.0.0.1", port: postfix.port, ignoreTLS: true })
        await client.sendMail(mail(subject, from))
        client.close()
      })
    return { node, postfix, send }
  })
  return { pair }
})

describe.skipIf(missing.length > 0)(
  `Postfix with opendkim${missing.map((why) => ` (skipped: ${why})`).join("")}`,
  () => {
    layer(World.layer, { excludeTestServices: true, timeout: "240 seconds" })("real programs", (it) => {
      it.effect(
        "hands mail over by STARTTLS, over IPv4 and IPv6, and its signatures are judged",
        function* () {
          const { pair } = yield* start
          const four = yield* pair("127.0.0.1")
          const six = yield* pair("::1")
          const { key } = yield* ServiceProcess.signUp(four.node, { domain: "shop.test" })
          yield* four.send("over-4")
          yield* six.send("over-6")
          yield* four.send("forged", "ceo@forged.org")
          const call = (at: string) => Effect.promise(() => four.node.request("GET", at, { key }))
          const { driver: sql } = yield* Sql
          yield* World.until(Effect.orDie(sql`SELECT id FROM inbound`), (rows) => rows.length === 3)
          const arrived = yield* call("/v1/inbound")
          const named = (subject: string) =>
            Effect.map(
              call(
                `/v1/inbound/${arrived.json.data.find((each: { subject: string }) => each.subject === subject)?.id}`,
              ),
              ({ json }) => json,
            )
          for (const [subject, ip] of [
            ["over-4", "127.0.0.1"],
            ["over-6", "0:0:0:0:0:0:0:1"],
          ] as const) {
            const record = yield* named(subject)
            assert.deepInclude(record.envelope, {
              from: "ana@example.org",
              to: ["support+42@shop.test"],
              remote_ip: ip,
              helo: "mx.example.org",
              tls: "TLSv1.3",
            })
            assert.deepStrictEqual(
              [record.auth, record.mailbox_hash, record.message_id],
              [
                { spf: "pass", dkim: [{ domain: "example.org", result: "pass" }], dmarc: "pass", arc: "none" },
                "42",
                `<${subject}@example.org>`,
              ],
            )
          }
          // A sender that opendkim has no key for, from a domain that names no server.
          assert.deepStrictEqual((yield* named("forged")).auth, { spf: "fail", dkim: [], dmarc: "fail", arc: "none" })
          // Postfix took the 250 of each for the end: nothing is left in its queues.
          yield* World.until(
            Effect.promise(async () => (await four.postfix.queued()) + (await six.postfix.queued())),
            (left) => left === 0,
          )
        },
        TIMEOUT,
      )
    })
  },
)
