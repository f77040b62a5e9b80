import * as Migrations from "@waybill/store/database/Migrations"
import * as ServerCell from "@waybill/store/cells/ServerCell"
import { inCell } from "@waybill/store/routing/CurrentCell"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import nodemailer from "nodemailer"
import * as CellServers from "../../../support/cells/servers.ts"
import { assert, describe, it } from "../../../support/effectTest.ts"
import * as SmtpServer from "../../../support/mail/smtpServer.ts"
import { freePort } from "../../../support/process/service.ts"
import * as ServiceProcess from "../../../support/world/ServiceProcess.ts"
import * as World from "../../../support/world/World.ts"

const TIMEOUT = 600_000
const DOMAIN = "cell-b.test"
const BASE_URL = "https://mail.cell-b.test"
const BOUNCE = readFileSync(new URL("../../../fixtures/reports/gmail.eml", import.meta.url))
const FILE = Buffer.from("%PDF-1.4\r\nnot a real one\n")

const unfolded = (bytes: Buffer) => bytes.toString("latin1").replaceAll(/\r\n[ \t]+/gu, " ")
const header = (bytes: Buffer, name: string) => new RegExp(`^${name}: (.*)$`, "mu").exec(unfolded(bytes))?.[1] ?? ""

describe("an account on a server of its own, while home and another cell are away", () => {
  it.live(
    "receives mail, bounces and complaints, and its links work, because each names its account",
    () =>
      Effect.gen(function* () {
        const [home, own, other] = [yield* CellServers.make, yield* CellServers.make, yield* CellServers.make]
        yield* Migrations.migrate(home.url())
        const steps = Effect.gen(function* () {
          yield* ServerCell.make("cell_b", own.url())
          yield* ServerCell.make("cell_c", other.url())
          const sink = yield* SmtpServer.listen()
          const port = yield* Effect.promise(freePort)
          const node = yield* ServiceProcess.start(home.url(), {
            TRANSPORT: "relay",
            SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
            MAIL_PORT: String(port),
            RETURN_PATH_DOMAIN: "bounces.waybill.test",
            BASE_URL,
          })
          const account_id = yield* World.accountIn("cell_b")
          const { secret: key } = yield* World.key(account_id)
          yield* inCell("cell_b", World.verifiedDomain(DOMAIN, account_id))
          const call = (method: string, path: string, body?: unknown) =>
            Effect.promise(() => node.request(method, path, { key, ...(body === undefined ? {} : { body }) }))
          assert.strictEqual((yield* call("PATCH", `/v1/domains/${DOMAIN}`, { receiving: true })).status, 200)
          const deliver = (to: string, raw: string | Buffer) =>
            Effect.promise(async () => {
              const client = nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
              try {
                return (await client.sendMail({ envelope: { from: "", to }, raw })).response
              } catch (error) {
                return (error as { readonly response?: string }).response ?? String(error)
              } finally {
                client.close()
              }
            })
          /** Sends a mail, and returns it as it left. */
          const sent = Effect.fnUntraced(function* (name: string) {
            const body = {
              from: `hi@${DOMAIN}`,
              to: `${name}@example.org`,
              subject: name,
              text: "Hi",
              list_unsubscribe: true,
            }
            const { json } = yield* World.until(call("POST", "/v1/email/send", body), ({ status }) => status === 200)
            const mail = yield* World.until(
              Effect.sync(() => sink.mails.find(({ bytes }) => header(bytes, "Subject") === name)),
              (found) => found !== undefined,
            )
            yield* World.until(call("GET", `/v1/email/${json.id}`), ({ json }) => json.status === "delivered")
            return { id: String(json.id), from: mail?.from ?? "", bytes: mail?.bytes ?? Buffer.alloc(0) }
          })
          const steps = Effect.fnUntraced(function* (when: string, isHomeThere: boolean) {
            const bounced = yield* sent(`${when}-bounced`)
            const report = BOUNCE.toString("latin1").replaceAll("ana@example.org", `${when}-bounced@example.org`)
            assert.match(yield* deliver(bounced.from, report), /^250 /u)
            assert.strictEqual((yield* call("GET", `/v1/email/${bounced.id}`)).json.status, "bounced")
            const spam = yield* sent(`${when}-spam`)
            const complaint = [
              'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
              "MIME-Version: 1.0",
              "",
              "--b",
              "Content-Type: message/feedback-report",
              "",
              "Feedback-Type: abuse",
              "Version: 1",
              "",
              "--b",
              "Content-Type: message/rfc822",
              "",
              `X-Waybill-Id: ${header(spam.bytes, "X-Waybill-Id")}`,
              "Subject: redacted",
              "",
              "--b--",
            ].join("\r\n")
            assert.match(yield* deliver("fbl@bounces.waybill.test", complaint), /^250 /u)
            assert.strictEqual((yield* call("GET", `/v1/email/${spam.id}`)).json.status, "complained")
            const leaving = yield* sent(`${when}-leaving`)
            const link = /<https:\/\/mail\.cell-b\.test(\/unsubscribe\/[^>]+)>/u.exec(unfolded(leaving.bytes))?.[1]
            assert.strictEqual((yield* Effect.promise(() => fetch(node.url + link, { method: "POST" }))).status, 200)
            const suppressed = yield* call("GET", `/v1/suppressions/${when}-leaving@example.org`)
            assert.strictEqual(suppressed.json.reason, "unsubscribe")
            const received = yield* deliver(
              `support@${DOMAIN}`,
              `From: ana@example.org\r\nSubject: ${when}\r\nMIME-Version: 1.0\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${FILE.toString("base64")}\r\n`,
            )
            const id = /inb_\w+/u.exec(received)?.[0] ?? assert.fail(received)
            const { json: record } = yield* call("GET", `/v1/inbound/${id}`)
            const file = yield* Effect.promise(() => fetch(record.attachments[0].url.replace(BASE_URL, node.url)))
            // Downloads of clients without a key are counted at home.
            assert.strictEqual(file.status, isHomeThere ? 200 : 503)
            if (isHomeThere) assert.strictEqual(yield* Effect.promise(() => file.text()), FILE.toString())
          })
          yield* other.stop
          yield* steps("known", true)
          yield* home.stop
          yield* steps("alone", false)
        })
        yield* Effect.scoped(steps).pipe(Effect.provide(World.services(home.url(), 4)))
      }).pipe(Effect.scoped),
    TIMEOUT,
  )
})
