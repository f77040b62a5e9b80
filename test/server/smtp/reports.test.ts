import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import * as ReportParts from "@waybill/mail/report/ReportParts"
import * as Report from "@waybill/mail/reading/Report"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import { Effect, Option, Result } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { Sql } from "@waybill/store/postgres/Sql"
import * as MailListener from "../../../apps/server/src/smtp/MailListener.ts"
import * as OutgoingMessages from "../../../apps/server/src/worker/delivery/OutgoingMessages.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as World from "../../support/world/World.ts"
import * as Smtp from "./support.ts"

const KEY = Buffer.alloc(32, 9)
const OLD_KEY = Buffer.alloc(32, 8)
const DOMAIN = "bounces.waybill.test"
const fixtures = new URL("../../fixtures/reports/", import.meta.url)
const file = (name: string) => readFileSync(new URL(`${name}.eml`, fixtures))
const NAMES = readdirSync(fixtures).flatMap((name) => (name.endsWith(".eml") ? [name.slice(0, -".eml".length)] : []))

const listen = (limits: MailListener.Options["limits"] = {}) =>
  MailListener.listen({
    host: "127.0.0.1",
    port: 0,
    name: "bounces.waybill.test",
    inbound: Smtp.REPORTS_ONLY,
    returnPath: { domain: DOMAIN, secretKeys: [KEY, OLD_KEY] },
    limits,
  })

const pathOf = (ref: World.MessageRef, recipientIndex: number, key = KEY) =>
  ReturnPath.make(key, DOMAIN, { account_id: ref.account_id, emailId: ref.stream_id, recipientIndex })

/** Return path of all recipients of this recipient's domain. */
const domainPathOf = (ref: World.MessageRef, recipientIndex: number) =>
  ReturnPath.make(KEY, DOMAIN, { account_id: ref.account_id, emailId: ref.stream_id, recipientIndex, scope: "domain" })

/** A report that anybody who knows a return path can write. */
const forged = (action: "failed" | "delivered", ...addresses: ReadonlyArray<string>) =>
  Buffer.from(
    [
      "From: mailer-daemon@mx.evil.test",
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      "MIME-Version: 1.0",
      "",
      "--b",
      "Content-Type: message/delivery-status",
      "",
      "Reporting-MTA: dns; mx.evil.test",
      "",
      ...addresses.flatMap((address) => [
        `Final-Recipient: rfc822; ${address}`,
        `Action: ${action}`,
        `Status: ${action === "failed" ? "5.1.1" : "2.0.0"}`,
        `Diagnostic-Code: smtp; ${action === "failed" ? "550 5.1.1 user unknown" : "250 2.0.0 OK"}`,
        "",
      ]),
      "--b--",
      "",
    ].join("\r\n"),
  )

const stuffed = (bytes: Buffer) =>
  Buffer.from(
    `${bytes
      .toString("latin1")
      .replaceAll(/^\./gmu, "..")
      .replace(/\r?\n?$/u, "")}\r\n.\r\n`,
    "latin1",
  )

const report = Effect.fnUntraced(function* (port: number, to: string, bytes: Buffer) {
  const client = yield* Smtp.raw(port)
  const replies = yield* Effect.promise(() => client.all(["EHLO mx.example.org", "MAIL FROM:<>", `RCPT TO:<${to}>`]))
  if (!replies[2]?.startsWith("250")) return replies[2] ?? ""
  yield* Effect.promise(() => client.say("DATA"))
  client.write(stuffed(bytes))
  return yield* Effect.promise(() => client.reply())
})

const statuses = (ref: World.MessageRef) =>
  Effect.map(World.history(ref), ({ state }) =>
    state._tag === "Message"
      ? Object.fromEntries(state.recipients.map(({ address, status }) => [address, status]))
      : {},
  )

const suppressed = (ref: World.MessageRef, address: string) =>
  Effect.map(Suppressions.find(ref.account_id, address), (found) =>
    Option.map(found, (record) => {
      const { email_id, reason } = record as Readonly<Record<string, unknown>>
      return { email_id, reason }
    }),
  )

layer(Smtp.layer, { excludeTestServices: true })("an incoming report", (it) => {
  for (const name of NAMES) {
    it.effect(`${name} is taken, and comes twice to the effect of once`, function* () {
      const port = yield* listen()
      const parsed = yield* Effect.result(Report.parse(file(name), "acme"))
      const facts = Result.isSuccess(parsed) ? parsed.success : []
      const named = [...new Set(facts.flatMap(({ recipient }) => (recipient === undefined ? [] : [recipient])))]
      const others = named.length > 1 ? named : [...named, "other@example.com"]
      const ref = yield* Smtp.delivered(...(named.length === 0 ? ["ana@example.org"] : others))
      const path = pathOf(ref, named.length > 1 ? OutgoingMessages.WHOLE_MESSAGE : 0)
      assert.match(yield* report(port, path, file(name)), /^250 2\.6\.0 /u)
      const after = yield* World.timeline(ref)
      const found = yield* statuses(ref)
      for (const [nth, address] of named.entries()) {
        const fact = facts[nth]
        const expected = fact?.kind === "bounce" ? "bounced" : fact?.kind === "complaint" ? "complained" : "delivered"
        assert.strictEqual(found[address], expected, address)
        const suppression = yield* suppressed(ref, address)
        const reason =
          named.length > 1
            ? undefined
            : fact?.kind === "complaint"
              ? "complaint"
              : fact?.verdict?.suppress === "now"
                ? "hard_bounce"
                : undefined
        assert.deepStrictEqual(
          Option.getOrUndefined(suppression),
          reason === undefined ? undefined : { email_id: ref.stream_id, reason },
          address,
        )
      }
      if (named.length === 0 && facts.length > 0) assert.strictEqual(found["ana@example.org"], "complained")
      if (facts.length === 0) assert.deepStrictEqual(after, ["EmailQueued", "EmailDelivered"])
      if (named.length === 1) assert.strictEqual(found["other@example.com"], "delivered")
      assert.deepStrictEqual(yield* suppressed(ref, "other@example.com"), Option.none())
      assert.match(yield* report(port, path, file(name)), /^250 /u)
      assert.deepStrictEqual(yield* World.timeline(ref), after)
    })
  }

  it.effect("is recorded with the server's reply", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("ana@example.org")
    yield* report(port, pathOf(ref, 0), file("exim-prose"))
    const { history, state } = yield* World.history(ref)
    const smtp = state._tag === "Message" ? state.recipients[0]?.smtp : null
    assert.deepInclude(smtp, {
      code: 550,
      enhanced_code: "5.1.1",
      mx: "mx1.example.org",
      category: "invalid_recipient",
    })
    assert.deepInclude(history.at(-1)?.meta.actor, { type: "system" })
    assert.strictEqual(history.at(-1)?.meta.address, "127.0.0.1")
  })

  it.effect("is attributed to the recipient of the return path, whatever address a forwarder reports", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("ana@forwarder.example", "ben@example.org")
    yield* report(port, pathOf(ref, 0), file("qmail"))
    assert.deepStrictEqual(yield* statuses(ref), {
      "ana@forwarder.example": "bounced",
      "ben@example.org": "delivered",
    })
    assert.deepStrictEqual(yield* suppressed(ref, "ana@example.org"), Option.none())
  })

  it.effect("about an address that is not a recipient changes nothing", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("cy@example.org", "di@example.org")
    assert.match(yield* report(port, pathOf(ref, OutgoingMessages.WHOLE_MESSAGE), file("gmail")), /^250 /u)
    assert.deepStrictEqual(yield* statuses(ref), { "cy@example.org": "delivered", "di@example.org": "delivered" })
  })

  it.effect("is not attributed to recipients of other domains than its return path's", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("eve@evil.test", "mal@evil.test", "ceo@victim.test")
    const both = forged("failed", "ceo@victim.test", "mal@evil.test")
    assert.match(yield* report(port, domainPathOf(ref, 0), both), /^250 /u)
    assert.deepStrictEqual(yield* statuses(ref), {
      "eve@evil.test": "delivered",
      "mal@evil.test": "bounced",
      "ceo@victim.test": "delivered",
    })
  })

  it.effect("to a shared return path suppresses no address", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("eve@shared.test", "ceo@shared.test")
    for (const path of [domainPathOf(ref, 0), pathOf(ref, OutgoingMessages.WHOLE_MESSAGE)])
      assert.match(yield* report(port, path, forged("failed", "ceo@shared.test")), /^250 /u)
    assert.deepStrictEqual(yield* statuses(ref), { "eve@shared.test": "delivered", "ceo@shared.test": "bounced" })
    assert.deepStrictEqual(yield* suppressed(ref, "ceo@shared.test"), Option.none())
  })

  for (const action of ["failed", "delivered"] as const) {
    it.effect(`to a shared return path never records "${action}" of one who still waits`, function* () {
      const port = yield* listen()
      const { sender } = yield* Smtp.customer()
      const ref = yield* World.send(sender, {
        to: ["eve@shared.test", "ceo@shared.test", "cfo@shared.test"].map((address) => ({ address })),
      })
      const store = yield* EventStore
      const at = "2026-11-21T12:00:00.000Z" as never
      const later = "2026-11-21T13:00:00.000Z" as never
      yield* Effect.orDie(
        store.commit(Email, ref, EmailReport.recordDelivered(at, "eve@shared.test" as never, Smtp.DELIVERED)),
      )
      const deferred = EmailReport.record(at, [
        { _tag: "Deferred", recipient: "ceo@shared.test" as never, words: Smtp.DELIVERED, next_attempt_at: later },
      ])
      yield* Effect.orDie(store.commit(Email, ref, deferred))
      for (const path of [domainPathOf(ref, 0), pathOf(ref, OutgoingMessages.WHOLE_MESSAGE)])
        assert.match(yield* report(port, path, forged(action, "ceo@shared.test", "cfo@shared.test")), /^250 /u)
      assert.deepStrictEqual(yield* statuses(ref), {
        "eve@shared.test": "delivered",
        "ceo@shared.test": "deferred",
        "cfo@shared.test": "queued",
      })
    })
  }

  it.effect(
    "to a return path that several share is wanted again while the attempt is under way that it may be about",
    function* () {
      const port = yield* listen()
      const { sender } = yield* Smtp.customer()
      const to = ["eve@shared.test", "ceo@shared.test"].map((address) => ({ address }))
      const ref = yield* World.send(sender, { to })
      const sql = yield* Sql
      yield* Effect.orDie(sql`
        UPDATE outbox SET lease_token = 'x', lease_owner = 'x', lease_until = now() + interval '1 minute'
        WHERE id = ${ref.stream_id}`)
      const told = report(port, domainPathOf(ref, 0), forged("failed", "ceo@shared.test"))
      assert.match(yield* told, /^451 4\.3\.0 /u)
      assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued"])

      const store = yield* EventStore
      const at = "2026-11-21T12:00:00.000Z" as never
      yield* Effect.orDie(
        store.commit(Email, ref, EmailReport.recordDelivered(at, "ceo@shared.test" as never, Smtp.DELIVERED)),
      )
      assert.match(yield* told, /^250 /u)
      assert.deepStrictEqual(yield* statuses(ref), { "eve@shared.test": "queued", "ceo@shared.test": "bounced" })
    },
  )

  it.effect("suppresses a mailbox at its third report of being full", function* () {
    const port = yield* listen()
    const { sender } = yield* Smtp.customer()
    for (const round of [1, 2, 3]) {
      const ref = yield* World.send(sender, { to: [{ address: "ana@example.org" }] })
      yield* report(port, pathOf(ref, 0), file("full-for-days"))
      assert.deepInclude(yield* statuses(ref), { "ana@example.org": "bounced" })
      assert.strictEqual(Option.isSome(yield* suppressed(ref, "ana@example.org")), round === 3, `after ${round}`)
    }
  })

  // threat: forged-reports
  it.effect("is refused at RCPT if its return path is forged", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("ana@example.org")
    const path = pathOf(ref, 0)
    const [local = ""] = path.split("@")
    const forged = [
      pathOf(ref, 0, Buffer.alloc(32, 1)),
      `${local.slice(0, -1)}${local.endsWith("0") ? "1" : "0"}@${DOMAIN}`,
      `${local}@elsewhere.test`,
      `b-${ref.stream_id.slice(4)}@${DOMAIN}`,
      `info@${DOMAIN}`,
      `postmaster@elsewhere.test`,
    ]
    for (const address of forged) assert.match(yield* report(port, address, file("gmail")), /^550 5\.1\.1 /u, address)
    assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
  })

  it.effect("is accepted under an earlier key, and with the address in any case", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("ana@example.org")
    const path = pathOf(ref, 0, OLD_KEY).toUpperCase()
    assert.match(yield* report(port, path, file("gmail")), /^250 /u)
    assert.deepInclude(yield* statuses(ref), { "ana@example.org": "bounced" })
  })

  it.effect("about an unknown email is accepted and dropped", function* () {
    const port = yield* listen()
    const emailId = "msg_01m7ysmwp0e41861050r3gg28a" as never
    const known = yield* World.account()
    for (const account_id of [known, `acc_${"0".repeat(26)}`]) {
      const path = ReturnPath.make(KEY, DOMAIN, { account_id, emailId, recipientIndex: 0 })
      assert.match(yield* report(port, path, file("gmail")), /^250 /u)
    }
  })

  it.effect("is read from its beginning if it is long", function* () {
    const port = yield* listen()
    const ref = yield* Smtp.delivered("ana@example.org")
    const long = Buffer.concat([
      file("gmail"),
      Buffer.alloc(3 * ReportParts.REPORT_SIZE_LIMIT, "x".repeat(70) + "\r\n"),
    ])
    assert.match(yield* report(port, pathOf(ref, 0), long), /^250 /u)
    assert.deepInclude(yield* statuses(ref), { "ana@example.org": "bounced" })
  })

  it.effect("closes the connection of a client that guesses addresses", function* () {
    const port = yield* listen()
    const client = yield* Smtp.raw(port)
    yield* Effect.promise(() => client.all(["EHLO mx.example.org", "MAIL FROM:<>"]))
    for (let nth = 0; nth < 20; nth++)
      assert.match(yield* Effect.promise(() => client.say(`RCPT TO:<b-${nth}@${DOMAIN}>`)), /^550 /u)
    assert.match(yield* Effect.promise(() => client.say(`RCPT TO:<b-x@${DOMAIN}>`)), /^421 4\.7\.0 /u)
    yield* Effect.promise(() => client.untilClosed())
  })

  it.effect("needs no login, and AUTH is not offered", function* () {
    const port = yield* listen()
    const client = yield* Smtp.raw(port)
    const lines = yield* Effect.promise(() => client.lines("EHLO mx.example.org"))
    assert.isFalse(lines.some((line) => line.includes("AUTH")))
  })
})
