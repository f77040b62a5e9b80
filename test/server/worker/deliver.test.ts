import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import * as Email from "@waybill/domain/email/Email"
import * as Suppression from "@waybill/domain/suppression/Suppression"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as ReturnPath from "@waybill/mail/tokens/ReturnPath"
import { EventStore } from "@waybill/store/commit/EventStore"
import * as Leases from "@waybill/store/outbox/Leases"
import * as Reclaim from "@waybill/store/recovery/Reclaim"
import * as Suppressions from "@waybill/store/readmodels/Suppressions"
import { Clock, Duration, Effect, Layer, Option } from "effect"
import { dkimVerify } from "mailauth/lib/dkim/verify.js"
import { Sql } from "@waybill/store/postgres/Sql"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import * as World from "../../support/world/World.ts"
import * as SmtpServer from "../../support/mail/smtpServer.ts"

const to = (...addresses: ReadonlyArray<string>) => ({ to: addresses.map((address) => ({ address })) })

/** A server and a worker that relays to it. */
const relayed = Effect.fnUntraced(function* (
  options: SmtpServer.Options = {},
  over: Parameters<typeof World.worker>[2] = {},
) {
  const { url } = yield* Database.Fresh
  const server = yield* SmtpServer.listen(options)
  yield* Layer.build(World.worker(url, { relay: World.relay(server) }, over))
  return server
})

const rowOf = Effect.fnUntraced(function* (ref: World.MessageRef) {
  const sql = yield* Sql
  const rows = yield* Effect.orDie(sql<{
    readonly ready: boolean
    readonly lease_token: string | null
    readonly ahead_ms: number
  }>`SELECT ready, lease_token, (extract(epoch FROM available_at - now()) * 1000)::float8 AS ahead_ms
    FROM outbox WHERE id = ${ref.stream_id}`)
  return rows[0]
})

/** Adds a second signing key as if DNS had it. */
const showEd25519 = Effect.fnUntraced(function* (from: World.SendingDomain) {
  yield* World.addEd25519Key(from)
  const { commit } = yield* EventStore
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  yield* Effect.orDie(
    commit(Domain, { account_id: from.account_id, stream_id: from.domain_id }, DomainCheck.verifyReserved(now)),
  )
})

/** Lets processes that hold the row die so many times, and then makes the row due. */
const lose = Effect.fnUntraced(function* (ref: World.MessageRef, times: number) {
  const sql = yield* Sql
  const paused: Array<number> = []
  for (let n = 0; n < times; n++) {
    yield* Effect.orDie(sql`
      UPDATE outbox SET lease_token = 'lost', lease_owner = 'prc_dead', lease_until = now() + interval '1 minute',
        held_until = NULL WHERE id = ${ref.stream_id}`)
    yield* Reclaim.reclaim(yield* Leases.heldBy("prc_dead"))
    const row = yield* rowOf(ref)
    assert.isNull(row?.lease_token)
    paused.push(row?.ready === true ? 0 : Math.ceil((row?.ahead_ms ?? 0) / 1_000))
  }
  yield* Effect.orDie(
    sql`UPDATE outbox SET ready = true, held_until = NULL, available_at = now() WHERE id = ${ref.stream_id}`,
  )
  return paused
})

layer(World.layer, { excludeTestServices: true })("a worker", (it) => {
  it.effect("delivers an accepted message once, signed, and records it in the timeline", function* () {
    const server = yield* relayed()
    const from = yield* World.verifiedDomain()
    const ref = yield* World.send(from)
    const { state } = yield* World.settled(ref)
    assert.deepStrictEqual(yield* World.timeline(ref), ["EmailQueued", "EmailDelivered"])
    assert.strictEqual(yield* rowOf(ref), undefined)
    const [mail, ...more] = server.mails
    assert.deepStrictEqual([mail?.to, mail?.messageId, more], [["ana@example.org"], `${ref.stream_id}@acme.test`, []])
    const [local = ""] = (mail?.from ?? "").split("@")
    const bounced = Option.getOrThrow(ReturnPath.verify(World.RETURN_PATH.secretKey, local))
    assert.deepStrictEqual(bounced, {
      accountStart: ref.account_id.slice(0, 19),
      emailId: ref.stream_id,
      recipientIndex: 0,
    })
    const record = `v=DKIM1; k=rsa; p=${from.public_key}`
    const verdict = yield* Effect.promise(() =>
      dkimVerify(mail?.bytes ?? Buffer.alloc(0), { resolver: () => Promise.resolve([[record]]) }),
    )
    assert.strictEqual(verdict.results[0]?.status.result, "pass")
    const smtp = state._tag === "Message" ? state.recipients[0]?.smtp : null
    assert.deepStrictEqual([smtp?.code, smtp?.mx, smtp?.response], [250, "127.0.0.1", "OK queued as 1"])
  })

  it.effect("delivers to the other recipients if one bounces", function* () {
    const server = yield* relayed({
      script: ({ line, phase }) => (phase === "rcpt" && /bob/u.test(line) ? "550 5.1.1 no such user" : undefined),
    })
    const from = yield* World.verifiedDomain()
    const ref = yield* World.send(from, to("ana@example.org", "bob@example.org", "cy@example.org"))
    const { state } = yield* World.settled(ref)
    assert.deepStrictEqual(state._tag === "Message" && state.recipients.map(({ status }) => status), [
      "delivered",
      "bounced",
      "delivered",
    ])
    assert.deepStrictEqual(server.mails[0]?.to, ["ana@example.org", "cy@example.org"])
    const suppressed = yield* Suppressions.list({ account_id: from.account_id, limit: 10 })
    assert.deepStrictEqual(
      suppressed.data.map((record) => (record as { email: string }).email),
      ["bob@example.org"],
    )
    const again = yield* World.send(from, to("bob@example.org", "ana@example.org"))
    yield* World.settled(again)
    assert.deepStrictEqual((yield* World.timeline(again)).toSorted(), [
      "EmailDelivered",
      "EmailQueued",
      "EmailSuppressed",
    ])
    assert.deepStrictEqual(server.mails[1]?.to, ["ana@example.org"])
  })

  it.effect("retries only deferred recipients", function* () {
    let refusals = 2
    const server = yield* relayed(
      {
        script: ({ line, phase }) =>
          phase === "rcpt" && /bob/u.test(line) && refusals-- > 0 ? "451 4.3.0 not now" : undefined,
      },
      { nextAttempt: World.retrySoon },
    )
    const from = yield* World.verifiedDomain()
    const ref = yield* World.send(from, to("ana@example.org", "bob@example.org"))
    yield* World.settled(ref)
    assert.deepStrictEqual(yield* World.timeline(ref), [
      "EmailQueued",
      "EmailDelivered",
      "EmailDeferred",
      "EmailDeferred",
      "EmailDelivered",
    ])
    assert.deepStrictEqual(
      server.mails.map((mail) => mail.to),
      [["ana@example.org"], ["bob@example.org"]],
    )
    // A retry sends exactly the same bytes.
    assert.deepStrictEqual(server.mails[0]?.bytes, server.mails[1]?.bytes)
  })

  it.effect("fails a recipient after the last attempt and keeps the server's reply", function* () {
    yield* relayed(
      { script: ({ phase }) => (phase === "rcpt" ? "451 4.3.0 never" : undefined) },
      { nextAttempt: World.retrySoon },
    )
    const ref = yield* World.send(yield* World.verifiedDomain())
    const { state } = yield* World.settled(ref)
    const [recipient] = state._tag === "Message" ? state.recipients : []
    assert.deepStrictEqual(
      [recipient?.status, recipient?.attempts, recipient?.smtp?.category, recipient?.smtp?.response],
      ["failed", 4, "expired", "never"],
    )
  })

  it.effect("fails mail of a domain that was removed after acceptance", function* () {
    const server = yield* SmtpServer.listen()
    const { url } = yield* Database.Fresh
    const from = yield* World.verifiedDomain()
    const ref = yield* World.send(from, to("ana@example.org", "bob@example.org"))
    const store = yield* EventStore
    const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
    yield* Effect.orDie(
      store.commit(Domain, { account_id: from.account_id, stream_id: from.domain_id }, Domain.remove(now)),
    )
    yield* Layer.build(World.worker(url, { relay: World.relay(server) }))
    const { state } = yield* World.settled(ref)
    assert.deepStrictEqual(
      state._tag === "Message" && state.recipients.map(({ smtp, status }) => [status, smtp?.category]),
      [
        ["failed", "domain_removed"],
        ["failed", "domain_removed"],
      ],
    )
    assert.strictEqual(server.connections().opened, 0)
  })

  it.effect("does not send a message that was canceled in time", function* () {
    const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
    const from = yield* World.verifiedDomain()
    const ref = yield* World.send(from, { scheduled_at: Timestamp.plus(now, 1_000) })
    const store = yield* EventStore
    yield* Effect.orDie(store.commit(Email, ref, Email.cancel(now)))
    const after = yield* World.send(from, { scheduled_at: Timestamp.plus(now, 1_200) })
    // The worker starts after the cancellation, which could be too late on a slow machine.
    const server = yield* relayed()
    yield* World.settled(after)
    assert.deepStrictEqual(
      server.mails.map((mail) => mail.messageId),
      [`${after.stream_id}@acme.test`],
    )
    assert.strictEqual(yield* rowOf(ref), undefined)
  })

  // threat: unsigned-mail
  it.effect("defers a message that cannot be signed, and never sends it unsigned", function* () {
    const server = yield* relayed()
    const from = yield* World.verifiedDomain("nokey.test", undefined, false)
    // The second signature alone is not enough.
    yield* showEd25519(from)
    const ref = yield* World.send(from)
    const { state } = yield* World.until(World.history(ref), ({ version }) => version > 1)
    const [recipient] = state._tag === "Message" ? state.recipients : []
    assert.deepStrictEqual([recipient?.status, recipient?.smtp?.category], ["deferred", "signing"])
    assert.strictEqual(server.connections().opened, 0)
  })

  it.effect("sends with the first signature alone if the second key is lost", function* () {
    const server = yield* relayed()
    const from = yield* World.verifiedDomain()
    yield* showEd25519(from)
    const sql = yield* Sql
    yield* Effect.orDie(sql`DELETE FROM secrets WHERE id = ${from.domain_id} AND purpose = 'dkim:wbe1'`)
    yield* World.settled(yield* World.send(from))
    const mail = server.mails[0]?.bytes.toString() ?? ""
    assert.deepStrictEqual(mail.match(/^DKIM-Signature: .*?;/gmu), ["DKIM-Signature: v=1;"])
    assert.match(mail, /^ s=wb1;/mu)
  })

  it.effect("fails a message whose content has expired", function* () {
    yield* relayed()
    const gone = { sha256: "f".repeat(64), has_html: false, has_text: true, attachments: [] }
    const ref = yield* World.send(yield* World.verifiedDomain(), { content: gone })
    const { state } = yield* World.settled(ref)
    const [recipient] = state._tag === "Message" ? state.recipients : []
    assert.deepStrictEqual([recipient?.status, recipient?.smtp?.category], ["failed", "content_expired"])
  })

  it.effect("suppresses a full mailbox at its third bounce", function* () {
    yield* relayed({ script: ({ phase }) => (phase === "rcpt" ? "552 5.2.2 mailbox full" : undefined) })
    const from = yield* World.verifiedDomain()
    const suppressedAfter = Effect.gen(function* () {
      yield* World.settled(yield* World.send(from, to("Full@example.org")))
      return (yield* Suppressions.list({ account_id: from.account_id, limit: 10 })).data.length
    })
    assert.deepStrictEqual([yield* suppressedAfter, yield* suppressedAfter, yield* suppressedAfter], [0, 0, 1])
    const store = yield* EventStore
    const { state } = yield* store.load(Suppression, { account_id: from.account_id, stream_id: "full@example.org" })
    assert.strictEqual(state._tag === "Suppressed" && state.reason, "hard_bounce")
  })

  it.effect("makes and counts no attempt during a pause that a site requested", function* () {
    const server = yield* relayed({ script: ({ phase }) => (phase === "mail" ? "421 4.7.0 slow down" : undefined) })
    const from = yield* World.verifiedDomain()
    const refs = yield* Effect.forEach(Array.from({ length: 20 }), () => World.send(from), { concurrency: 5 })
    for (const ref of refs) {
      const row = yield* World.until(rowOf(ref), (row) => row?.lease_token === null && !row.ready)
      assert.isAbove(row?.ahead_ms ?? 0, 500)
    }
    const { opened } = server.connections()
    yield* Effect.sleep(Duration.millis(700))
    assert.strictEqual(server.connections().opened, opened)
    let told = 0
    for (const ref of refs) {
      const { history, state } = yield* World.history(ref)
      const [recipient] = state._tag === "Message" ? state.recipients : []
      assert.strictEqual(recipient?.attempts, 0)
      if (history.length === 1) continue
      told++
      assert.deepInclude(recipient, { status: "deferred" })
      assert.deepInclude(recipient?.smtp, { code: 421, response: "slow down" })
      assert.strictEqual(history.length, 2)
    }
    // Only recipients with a reply of the server are recorded as deferred.
    assert.isAtLeast(told, 1)
  })

  it.effect("keeps the pause of one recipient when another recipient's outcome is committed", function* () {
    const server = yield* relayed({
      script: ({ line, phase }) =>
        phase === "rcpt" && /bob/u.test(line) ? "450 4.7.1 too many messages from you" : undefined,
    })
    const ref = yield* World.send(yield* World.verifiedDomain(), to("ana@example.org", "bob@example.org"))
    yield* World.until(World.history(ref), ({ version }) => version > 1)
    const row = yield* World.until(rowOf(ref), (row) => row?.lease_token === null)
    assert.isFalse(row?.ready)
    assert.isAbove(row?.ahead_ms ?? 0, 30_000)
    assert.strictEqual(server.mails.length, 1)
  })

  it.effect(
    "does not count against a mail what the deaths of its workers cost, and lets it wait when they are many",
    function* () {
      const from = yield* World.verifiedDomain("unlucky.test")
      const [unlucky, deadly] = [yield* World.send(from), yield* World.send(from)]
      const [first, second, third = 0, fourth = 0, ...more] = yield* lose(unlucky, Reclaim.MAX_LOST - 1)
      assert.deepStrictEqual([first, second], [0, 0])
      assert.isTrue(third >= 25 && third <= 90, `${third}`)
      assert.isTrue(fourth >= 115 && fourth <= 360, `${fourth}`)
      assert.isAbove(more.at(-1) ?? 0, 5 * 3_600)
      yield* lose(deadly, Reclaim.MAX_LOST)
      const counted: Array<number> = []
      let refused = false
      const server = yield* relayed(
        {
          script: ({ phase }) => {
            if (refused || phase !== "rcpt") return undefined
            refused = true
            return "450 4.2.0 later"
          },
        },
        {
          nextAttempt: (attempt) => {
            counted.push(attempt)
            return Duration.millis(50)
          },
        },
      )
      const found = yield* Effect.forEach([unlucky, deadly], (ref) => World.settled(ref))
      assert.deepStrictEqual(
        found.map(({ state }) => (state._tag === "Message" ? state.recipients[0]?.status : undefined)),
        ["delivered", "failed"],
      )
      assert.deepStrictEqual([counted, server.mails.length], [[1], 1])
    },
  )
})
