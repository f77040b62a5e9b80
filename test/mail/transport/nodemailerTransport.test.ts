import * as ProviderModule from "@waybill/mail/provider/ProviderModule"
import * as NodemailerAnswer from "@waybill/mail/transport/NodemailerAnswer"
import * as NodemailerTransport from "@waybill/mail/transport/NodemailerTransport"
import * as Transport from "@waybill/mail/transport/Transport"
import { Duration, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createTransport } from "nodemailer"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "../../support/effectTest.ts"
import { outgoing } from "./outgoing.ts"

const ANA = "ana@example.test"
const BEN = "ben@example.test"

const folder = mkdtempSync(join(tmpdir(), "waybill-nodemailer-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Delivers by a transport whose `send` answers this. */
const answering = (answer: () => unknown) =>
  NodemailerTransport.make(
    "own",
    createTransport({
      name: "own",
      version: "1",
      send: (_mail, callback) => {
        try {
          callback(null, answer() as never)
        } catch (error) {
          callback(error as Error, undefined as never)
        }
      },
    }),
  )

const throwing = (error: object) =>
  answering(() => {
    throw Object.assign(new Error("refused"), error)
  })

const short = ({ category, recipient, status }: Transport.RecipientOutcome) => `${recipient} ${status} ${category}`

/** Delivers by a module that is loaded as the service loads it. */
const by = (module: string, options: ProviderModule.Options, recipients = [ANA, BEN]) =>
  Transport.Transport.use((transport) => transport.deliver(outgoing(), recipients)).pipe(
    Effect.provide(NodemailerTransport.layer({ module, options })),
  )

describe("a transport of nodemailer", () => {
  it.effect("a module receives the envelope and the exact bytes", function* () {
    const file = join(folder, "module.jsonl")
    const module = fileURLToPath(new URL("fileTransport.mjs", import.meta.url))
    const outcomes = yield* by(module, { file })
    assert.deepStrictEqual(outcomes.map(short), [`${ANA} delivered null`, `${BEN} delivered null`])
    assert.deepInclude(outcomes[0], { code: null, response: "id-1 queued" })
    assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), {
      envelope: { from: "b-1@bounce.acme.test", to: [ANA, BEN] },
      raw: Buffer.from(outgoing().bytes).toString("latin1"),
    })
  })

  it.effect(
    "the sendmail program receives the envelope as arguments and the message on its standard input",
    function* () {
      const file = join(folder, "sendmail.json")
      const path = join(folder, "sendmail")
      const program = `#!${process.execPath}
const chunks = []
process.stdin.on("data", (chunk) => chunks.push(chunk)).on("end", () => require("fs").writeFileSync(${JSON.stringify(file)},
  JSON.stringify({ args: process.argv.slice(2), raw: Buffer.concat(chunks).toString("latin1") })))`
      writeFileSync(path, program, { mode: 0o755 })
      const outcomes = yield* by("sendmail", { path })
      assert.deepStrictEqual(outcomes.map(short), [`${ANA} delivered null`, `${BEN} delivered null`])
      assert.deepStrictEqual(JSON.parse(readFileSync(file, "utf8")), {
        args: ["-i", "-f", "b-1@bounce.acme.test", ANA, BEN],
        raw: Buffer.from(outgoing().bytes).toString("latin1").replaceAll("\r\n", "\n"),
      })
    },
  )

  it.effect(
    "an address that a sendmail program would read as an option fails, and keeps no other waiting",
    function* () {
      const path = join(folder, "accepting")
      writeFileSync(path, "#!/bin/sh\ncat > /dev/null\n", { mode: 0o755 })
      const outcomes = yield* by("sendmail", { path }, [ANA, "-oQ/tmp@example.test", BEN])
      assert.deepStrictEqual(outcomes.map(short), [
        `${ANA} delivered null`,
        "-oQ/tmp@example.test failed protocol",
        `${BEN} delivered null`,
      ])
    },
  )

  it.effect("a sendmail program that fails defers", function* () {
    const outcomes = yield* by("sendmail", { path: join(folder, "missing") })
    assert.deepStrictEqual(outcomes.map(short), [`${ANA} deferred unavailable`, `${BEN} deferred unavailable`])
  })

  for (const [module, message] of [
    ["waybill-no-such-module", "is not installed: run `npm install waybill-no-such-module`"],
    ["node:path", "exports no transport of nodemailer, which has a method send"],
    ["ses", "is not installed: run `npm install @aws-sdk/client-sesv2`"],
  ] as const) {
    it.effect(`the module ${module} is refused with the reason`, function* () {
      const error = yield* Effect.flip(ProviderModule.load(module, {}))
      assert.strictEqual(error.message, `NODEMAILER_TRANSPORT ${module} ${message}`)
    })
  }

  it.effect("recipients that a transport rejects one by one have outcomes of their own", function* () {
    const reply = { recipient: BEN, responseCode: 550, response: "550 5.1.1 no such user", command: "RCPT TO" }
    const some = answering(() => ({
      accepted: [ANA],
      rejected: [BEN],
      rejectedErrors: [reply],
      response: "250 2.0.0 ok",
    }))
    const outcomes = yield* some.deliver(outgoing(), [ANA, BEN])
    assert.deepStrictEqual(outcomes.map(short), [`${ANA} delivered null`, `${BEN} bounced invalid_recipient`])
    assert.deepInclude(outcomes[0], { code: 250, enhanced_code: "2.0.0" })
    assert.deepInclude(outcomes[1], { code: 550, suppress: "now" })
    const unnamed = answering(() => ({ accepted: [ANA], rejected: [BEN], response: "taken" }))
    assert.deepStrictEqual((yield* unnamed.deliver(outgoing(), [ANA, BEN])).map(short), [
      `${ANA} delivered null`,
      `${BEN} bounced policy`,
    ])
  })

  const unreadable = {
    toString: () => {
      throw new Error("not a text")
    },
  }
  const fragile = (name: string) =>
    Object.defineProperty({}, name, {
      get: () => {
        throw new Error("not to be read")
      },
    })

  // threat: odd-providers
  it.effect(
    "an odd answer of a transport that took the message counts as taken, so that it is not sent again",
    function* () {
      const bare = Object.create(null) as object
      const answers = [
        { response: bare },
        { messageId: unreadable },
        { response: Symbol("x") },
        { response: 250 },
        { response: "x".repeat(1_000_000) },
        { rejectedErrors: [null, 1, bare, fragile("recipient")] },
        { rejected: [bare, unreadable, null] },
        fragile("response"),
        fragile("rejected"),
        fragile("rejectedErrors"),
        bare,
        "250 OK",
        7,
        undefined,
      ]
      for (const [nth, answer] of answers.entries()) {
        const [outcome] = yield* answering(() => answer).deliver(outgoing(), [ANA])
        assert.strictEqual(outcome?.status, "delivered", String(nth))
        assert.isAtMost(outcome?.response?.length ?? 0, 1_000)
      }
    },
  )

  it.effect("an odd error of a transport defers", function* () {
    for (const error of [Object.create(null) as object, fragile("code"), fragile("response"), { $metadata: null }]) {
      const transporter = createTransport({
        name: "own",
        version: "1",
        send: (_, callback) => callback(error as Error, undefined as never),
      })
      const [outcome] = yield* NodemailerTransport.make("own", transporter).deliver(outgoing(), [ANA])
      assert.strictEqual(outcome?.status, "deferred")
    }
  })

  const THROWING = 'new Proxy({}, { get() { throw new Error("not to be read") } })'
  for (const [name, send, expected] of [
    ["throws", 'send() { throw new Error("thrown") }', `${ANA} deferred unavailable`],
    ["rejects", 'async send() { throw new Error("thrown") }', `${ANA} deferred unavailable`],
    [
      "rejects later",
      "send: (_, done) => new Promise((_, reject) => setImmediate(() => (done(null, {}), reject(new Error()))))",
      `${ANA} delivered null`,
    ],
    ["answers twice", "send: (_, done) => (done(null, {}), done(new Error()))", `${ANA} delivered null`],
    ["answers what throws", `send: (_, done) => done(null, ${THROWING})`, `${ANA} delivered null`],
    ["answers what cannot be read", "send: (_, done) => done(null, revoked())", `${ANA} delivered null`],
    [
      "lists what cannot be read",
      "send: (_, done) => done(null, { rejectedErrors: revoked() })",
      `${ANA} delivered null`,
    ],
    [
      "answers a thenable that rejects",
      "send: (_, done) => done(null, { then: (_, reject) => reject(new Error()) })",
      `${ANA} delivered null`,
    ],
    ["answers a thenable that never settles", "send: (_, done) => done(null, { then() {} })", `${ANA} delivered null`],
    ["fails with what throws", `send: (_, done) => done(${THROWING})`, `${ANA} deferred unavailable`],
    ["rejects with what throws", `send: () => Promise.reject(${THROWING})`, `${ANA} deferred unavailable`],
    ["answers and throws", "send: (_, done) => { done(null, {}); throw new Error() }", `${ANA} delivered null`],
  ] as const) {
    it.effect(`a module that ${name} does not end the process`, function* () {
      const module = join(folder, `${name.replaceAll(" ", "-")}.mjs`)
      writeFileSync(
        module,
        `const revoked = () => { const each = Proxy.revocable([], {}); each.revoke(); return each.proxy }
export default () => ({ name: "own", version: "1", ${send} })`,
      )
      const [outcome] = yield* by(module, {})
      assert.strictEqual(outcome === undefined ? "" : short(outcome), expected)
    })
  }

  describe("the operator's options", () => {
    const SECRET = "opNodeSecret-7af3"
    const options = { auth: { apiKey: SECRET, pem: "-----BEGIN KEY-----\nMIIopNodeSecret\n" }, region: "eu-west-1" }
    const saying = Effect.fnUntraced(function* (name: string, send: string) {
      const module = join(folder, `${name}.mjs`)
      writeFileSync(module, `export default (options) => ({ name: "own", version: "1", ${send} })`)
      const logged: Array<string> = []
      const outcomes = yield* by(module, options).pipe(
        Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(JSON.stringify(message)))])),
      )
      return { logged: logged.join(), outcomes, text: JSON.stringify(outcomes) }
    })

    // threat: shown-secrets
    it.effect("an error about the account is told in the log, without its keys", function* () {
      const { logged, outcomes } = yield* saying(
        "account",
        "send: (_, done) => done(new Error(`Invalid API key: ${options.auth.apiKey} for arn:aws:iam::1:user/op`))",
      )
      for (const outcome of outcomes)
        assert.deepInclude(outcome, { status: "deferred", response: NodemailerAnswer.ACCOUNT_REFUSED })
      assert.include(logged, "Invalid API key: [masked] for arn:aws:iam::1:user/op")
      const login = yield* saying(
        "login",
        'send: (_, done) => done(Object.assign(new Error(), { responseCode: 535, response: "535 5.7.8 bad " + options.auth.apiKey, command: "AUTH PLAIN" }))',
      )
      assert.deepInclude(login.outcomes[0], { code: 535, response: NodemailerAnswer.ACCOUNT_REFUSED })
      assert.include(login.logged, "bad [masked]")
    })

    for (const [name, send] of [
      ["thrown", "send() { throw new Error(JSON.stringify(options)) }"],
      ["coded", "send: (_, done) => done(new Error(btoa(options.auth.apiKey) + encodeURIComponent(options.auth.pem)))"],
      ["cut", 'send: (_, done) => done(new Error("x".repeat(500) + options.auth.apiKey))'],
      ["limited", "send: (_, done) => done(Object.assign(new Error(options.auth.apiKey), { status: 429 }))"],
      [
        "refused",
        "send: (_, done) => done(Object.assign(new Error(), { responseCode: 554, response: `554 ${options.auth.apiKey}` }))",
      ],
      ["rejected", `send: (_, done) => done(null, { rejected: ["${ANA}"], response: options.auth.apiKey })`],
      ["taken", "send: (_, done) => done(null, { response: `by ${options.auth.apiKey}` })"],
    ] as const) {
      it.effect(`do not show: ${name}`, function* () {
        const { text } = yield* saying(name, send)
        assert.include(text, "[masked]")
        assert.notMatch(text, /opNodeSec|MIIop|b3BOb2RlU2Vj/u)
      })
    }

    it.effect("stay in the id of a message as far as they are public", function* () {
      const { outcomes } = yield* saying(
        "id",
        "send: (_, done) => done(null, { messageId: `<1@${options.region}.test>` })",
      )
      assert.strictEqual(outcomes[0]?.response, "<1@eu-west-1.test>")
    })

    it.effect("do not show in the reason that a module cannot be loaded", function* () {
      const module = join(folder, "broken.mjs")
      writeFileSync(module, "export default (options) => { throw new Error(`bad ${options.auth.apiKey}`) }")
      const error = yield* Effect.flip(ProviderModule.load(module, options))
      assert.strictEqual(error.message, `NODEMAILER_TRANSPORT ${module} fails: bad [masked]`)
    })
  })

  it.effect("a provider that limits the rate pauses all mail, longer each time, and burns no attempt", function* () {
    let calls = 0
    let limited = true
    const transport = answering(() => {
      calls++
      if (limited) throw Object.assign(new Error("Maximum sending rate exceeded."), { name: "ThrottlingException" })
      return { response: "taken" }
    })
    const send = Effect.map(transport.deliver(outgoing(), [ANA]), ([outcome]) => outcome)
    const first = yield* send
    assert.deepInclude(first, { status: "deferred", category: "cooling_down", no_attempt: true, retry_after_ms: 1_000 })
    assert.deepInclude(yield* send, { no_attempt: true, response: "own requested a pause; 1 s remain" })
    assert.strictEqual(calls, 1)
    yield* TestClock.adjust("1 second")
    assert.deepInclude(yield* send, { no_attempt: true, retry_after_ms: 2_000 })
    yield* TestClock.adjust("2 seconds")
    limited = false
    assert.deepInclude(yield* send, { status: "delivered", no_attempt: false })
    assert.strictEqual(calls, 3)
  })

  it.effect("a pause that the provider names is kept", function* () {
    const transport = throwing({ status: 429, retryAfter: 90 })
    assert.deepInclude((yield* transport.deliver(outgoing(), [ANA]))[0], { retry_after_ms: 90_000, no_attempt: true })
  })

  it.effect("an error for all recipients fails, bounces or defers them by its rule", function* () {
    const errors: ReadonlyArray<readonly [object, string]> = [
      [{ name: "MessageRejected" }, "failed content"],
      [{ name: "SendingPausedException" }, "deferred auth"],
      [{ code: "ECONNECTION" }, "deferred connection"],
      [{ message: "recipient is on the suppression list" }, "bounced invalid_recipient"],
      [{ responseCode: 554, response: "554 5.7.1 spam", command: "DATA" }, "bounced content"],
    ]
    for (const [error, expected] of errors) {
      const [outcome] = yield* throwing(error).deliver(outgoing(), [ANA])
      assert.strictEqual(`${outcome?.status} ${outcome?.category}`, expected, JSON.stringify(error))
    }
  })

  it.effect("a transport that never answers may have taken the message", function* () {
    const silent = NodemailerTransport.make("own", createTransport({ name: "own", version: "1", send: () => {} }))
    const fiber = yield* Effect.forkChild(silent.deliver(outgoing(), [ANA]))
    yield* TestClock.adjust(Duration.millis(NodemailerTransport.HAND_OVER_LIMIT_MS))
    assert.deepStrictEqual((yield* Fiber.join(fiber)).map(short), [`${ANA} deferred lost_answer`])
  })

  it.effect("a message that may not begin is given back", function* () {
    const outcomes = yield* answering(() => assert.fail("sent")).deliver(outgoing({ mayBegin: () => false }), [ANA])
    assert.deepStrictEqual(outcomes, [Transport.notStarted(ANA)])
  })
})
