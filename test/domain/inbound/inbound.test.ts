import * as Inbound from "@waybill/domain/inbound/Inbound"
import * as InboundState from "@waybill/domain/inbound/InboundState"
import * as Thread from "@waybill/domain/inbound/Thread"
import type * as Address from "@waybill/domain/values/Address"
import type { Sha256 } from "@waybill/domain/values/Sha256"
import type * as Timestamp from "@waybill/domain/values/Timestamp"
import { Result } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { id } from "../../support/history.ts"

const NOW = "2026-11-29T10:00:00.000Z" as Timestamp.Timestamp
const [EMAIL, OTHER] = [id("EmailId"), id("EmailId")]
const INBOUND = id("InboundId")

const heading: InboundState.Heading = {
  from: { address: "ana@example.org" },
  to: [],
  cc: [],
  reply_to: [],
  subject: "Hi",
  date: null,
  message_id: "<a@example.org>",
  in_reply_to: null,
  references: [],
  automatic: null,
  attachments: [],
  complete: true,
}

const arrival = (...to: ReadonlyArray<string>): Inbound.Arrival => ({
  id: INBOUND,
  thread: { thread_id: Thread.startedBy(INBOUND), email_id: null },
  envelope: {
    from: "ana@example.org",
    to: to as ReadonlyArray<Address.Address>,
    remote_ip: null,
    helo: null,
    tls: null,
  },
  heading,
  auth: InboundState.NOT_JUDGED,
  size_bytes: 10,
  sha256: "0".repeat(64) as Sha256,
  plan: { status: "received", applied: [] },
})

const received = (...to: ReadonlyArray<string>) => {
  const decided = Inbound.receive(NOW, arrival(...to))(Inbound.initial)
  return Result.isSuccess(decided) ? decided.success.reduce<Inbound.State>(Inbound.evolve, Inbound.initial) : undefined
}

describe("a received mail", () => {
  it("has the domain and what follows the plus sign of its first recipient", () => {
    const mailOf = (to: string) => {
      const state = received(to)
      return state?._tag === "Received" ? [state.mail.domain, state.mail.mailbox_hash] : undefined
    }
    assert.deepStrictEqual(mailOf("support+42@acme.test"), ["acme.test", "42"])
    assert.deepStrictEqual(mailOf("support+a+b@acme.test"), ["acme.test", "a+b"])
    assert.deepStrictEqual(mailOf("support+@acme.test"), ["acme.test", null])
    assert.deepStrictEqual(mailOf("support@acme.test"), ["acme.test", null])
    assert.isUndefined(received())
  })

  it("is recorded once, and deleted once", () => {
    const state = received("support@acme.test") ?? Inbound.initial
    assert.isTrue(Result.isFailure(Inbound.receive(NOW, arrival("support@acme.test"))(state)))
    const removed = Inbound.remove(NOW)(state)
    assert.isTrue(Result.isSuccess(removed))
    const after = Result.isSuccess(removed) ? removed.success.reduce<Inbound.State>(Inbound.evolve, state) : state
    assert.strictEqual(after._tag, "Deleted")
    assert.isTrue(Result.isFailure(Inbound.remove(NOW)(after)))
  })
})

describe("a thread", () => {
  const known = (...emails: ReadonlyArray<typeof EMAIL>): Thread.Known => ({
    emails: new Set(emails),
    threads: new Map(),
  })
  const of = (email: string) => `<${email}@acme.test>`

  it("begins with a mail that refers to nothing that the account has", () => {
    const own = { thread_id: Thread.startedBy(INBOUND), email_id: null }
    assert.deepStrictEqual(Thread.place(INBOUND, [], known()), own)
    assert.deepStrictEqual(Thread.place(INBOUND, [of(EMAIL), "<x@example.org>"], known()), own)
  })

  it("is that of the nearest email that a mail answers", () => {
    const references = Thread.referencesOf(of(OTHER), [of(EMAIL), of(OTHER)])
    assert.deepStrictEqual(references, [of(OTHER), of(EMAIL)])
    const thread_id = Thread.startedBy(OTHER)
    assert.deepStrictEqual(Thread.place(INBOUND, references, known(EMAIL, OTHER)), { thread_id, email_id: OTHER })
    assert.strictEqual(Thread.emailAtStart(thread_id), OTHER)
  })

  it("goes on over mails that came in", () => {
    const thread_id = Thread.startedBy(EMAIL)
    const threads = new Map([["<a@example.org>", thread_id]])
    const place = Thread.place(INBOUND, ["<a@example.org>", of(OTHER)], { emails: new Set([OTHER]), threads })
    assert.deepStrictEqual(place, { thread_id, email_id: OTHER })
  })

  it("is looked for by a bounded number of references", () => {
    const many = Array.from({ length: 5_000 }, (_, nth) => `<${nth}@example.org>`)
    assert.lengthOf(Thread.referencesOf("<a@b>", many), Thread.MAX_REFERENCES)
  })
})
