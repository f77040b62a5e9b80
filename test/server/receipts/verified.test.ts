import { Effect } from "effect"
import nodemailer from "nodemailer"
import { verifyCose } from "../../../packages/verify/src/Cose.ts"
import { keysOfLog } from "../../../packages/verify/src/keysOfLog.ts"
import { parseVkey } from "../../../packages/verify/src/SignedNote.ts"
import { type VerifyOptions, verify } from "../../../packages/verify/src/verify.ts"
import { assert, layer, type TestContext } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { freePort } from "../../support/process/service.ts"
import * as ServiceProcess from "../../support/world/ServiceProcess.ts"
import * as World from "../../support/world/World.ts"
import { type Asked, askSecond } from "../../verify/askSecond.ts"
import * as MadeLog from "../../verify/MadeLog.ts"

const MAIL = {
  from: "Acme <hi@shop.test>",
  to: ["Ana <ana@example.org>", "bo@example.net"],
  bcc: "eve@example.org",
  subject: "Your receipt \u2014 caf\u00e9",
  text: "Thank you.",
  metadata: { order: "7041" },
}
/** Reaches every value of a receipt; `test/verify/receipt.test.ts` changes each byte of one. */
const STEP = 7
/** The logs may be read 60 times a minute. */
const LOOK_MS = 1_000
const LOOKS = 60

/** A running service, and a customer who gets receipts. */
const start = Effect.gen(function* () {
  const { url } = yield* Database.Fresh
  const mailPort = yield* Effect.promise(freePort)
  const node = yield* ServiceProcess.start(url, {
    MAIL_PORT: String(mailPort),
    RETURN_PATH_DOMAIN: "bounces.waybill.test",
  })
  const { key, post } = yield* ServiceProcess.signUp(node, { domain: "shop.test" })
  const read = (path: string, accept = "application/json") =>
    Effect.promise(async () => {
      const answer = await fetch(`${node.url}${path}`, { headers: { authorization: `Bearer ${key}`, accept } })
      return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) }
    })
  const text = (path: string) =>
    Effect.map(read(path), ({ bytes, status }) => {
      assert.strictEqual(status, 200, `${path}: ${new TextDecoder().decode(bytes)}`)
      return new TextDecoder().decode(bytes)
    })
  /** Waits until something holds, as a customer does. */
  const until = Effect.fnUntraced(function* <A>(look: Effect.Effect<A | undefined>) {
    for (let nth = 0; nth < LOOKS; nth++) {
      const found = yield* look
      if (found !== undefined) return found
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, LOOK_MS)))
    }
    return assert.fail("it did not happen in time")
  })
  const send = Effect.gen(function* () {
    const { json } = yield* post("/v1/email/send", MAIL)
    const id = String(json.id)
    yield* until(
      Effect.map(text(`/v1/email/${id}`), (record) =>
        (JSON.parse(record) as { readonly status: string }).status === "delivered" ? true : undefined,
      ),
    )
    return id
  })
  const receipt = (path: string) => {
    let last = ""
    const look = Effect.map(read(path), ({ bytes, status }) => {
      last = new TextDecoder().decode(bytes)
      if (status === 200) return last
      assert.include(last, "receipt_pending", `${path}: ${last}`)
      return undefined
    })
    return until(look)
  }
  const receive = Effect.promise(async () => {
    const client = nodemailer.createTransport({
      host: "127.0.0.1",
      port: mailPort,
      name: "mx.example.org",
      ignoreTLS: true,
    })
    const raw = "From: ana@example.org\r\nTo: hi@shop.test\r\nSubject: Re\r\n\r\nHello\r\n"
    try {
      const { response } = await client.sendMail({ envelope: { from: "ana@example.org", to: ["hi@shop.test"] }, raw })
      return /inb_\w+/u.exec(response)?.[0] ?? assert.fail(response)
    } finally {
      client.close()
    }
  })
  const pinned = Effect.map(text("/.well-known/waybill-log.json"), (json): VerifyOptions => ({ keys: keysOfLog(json) }))
  return { pinned, post, read, receipt, receive, send, text }
})

const wrongSteps = (receipt: string | Uint8Array, options: VerifyOptions) =>
  Effect.map(
    Effect.promise(() => verify(receipt, options)),
    ({ steps }) => steps.filter(({ result }) => result === "failed" || result === "skipped").map(({ words }) => words),
  )

layer(World.layer, { excludeTestServices: true, timeout: "300 seconds" })("receipts of a service", (it) => {
  it.effect(
    "hold for those who have nothing but the file and the key, and for none who changes them",
    ({ skip }: TestContext) =>
      Effect.gen(function* () {
        const { pinned, read, receipt, receive, send } = yield* start
        const id = yield* send
        const options = yield* pinned
        const whole = yield* receipt(`/v1/email/${id}/receipt`)
        assert.deepStrictEqual(yield* wrongSteps(whole, options), [])
        const { email, events } = JSON.parse(whole) as MadeLog.Draft
        assert.deepStrictEqual(email["id"], id)
        assert.deepStrictEqual(
          (email["recipients"] as ReadonlyArray<{ readonly last_event: string }>).map(({ last_event }) => last_event),
          ["email.delivered", "email.delivered", "email.delivered"],
        )
        assert.isAbove(events.length, 3)

        // Hidden fields leave nothing that is readable, and the receipt still holds.
        const redacted = yield* receipt(`/v1/email/${id}/receipt?redact=recipient,subject`)
        assert.deepStrictEqual(yield* wrongSteps(redacted, options), [])
        for (const secret of ["ana@example", "bo@example", "eve@example", "caf\u00e9"])
          assert.notInclude(redacted, secret)

        const inbound = yield* receive
        const received = yield* receipt(`/v1/inbound/${inbound}/receipt`)
        assert.deepStrictEqual(yield* wrongSteps(received, options), [])
        assert.strictEqual((JSON.parse(received) as MadeLog.Draft).email["id"], inbound)

        // COSE says the same.
        const { bytes } = yield* read(`/v1/email/${id}/receipt`, "application/cose")
        const [vkey = ""] = (JSON.parse(whole) as MadeLog.Draft).keys
        const { key } = yield* Effect.promise(() => parseVkey(vkey))
        const json = yield* Effect.promise(() => verifyCose(bytes, key))
        assert.deepStrictEqual(yield* wrongSteps(json, options), [])
        assert.deepStrictEqual((JSON.parse(json) as MadeLog.Draft).email, email)

        // Parts of one receipt do not fit another one, whose checkpoint is later.
        const other = JSON.parse(yield* receipt(`/v1/email/${yield* send}/receipt`)) as MadeLog.Draft
        const own = () => JSON.parse(whole) as MadeLog.Draft
        const proofOf = (draft: MadeLog.Draft, nth: number) => draft.events[nth]?.proof ?? []
        const forged: ReadonlyArray<readonly [name: string, draft: MadeLog.Draft]> = [
          ["a checkpoint of another tree", { ...own(), checkpoint: other.checkpoint }],
          ["events of another message", { ...own(), events: own().events.with(1, other.events[1] ?? assert.fail()) }],
          [
            "a proof for another leaf",
            { ...own(), events: own().events.map((event) => ({ ...event, proof: proofOf(own(), 0) })) },
          ],
          ["an event less", { ...own(), events: own().events.slice(0, -1) }],
          ["events reordered", { ...own(), events: own().events.toReversed() }],
        ]
        for (const [name, draft] of forged) assert.isNotEmpty(yield* wrongSteps(JSON.stringify(draft), options), name)
        assert.isNotEmpty(yield* wrongSteps(whole, { keys: [MadeLog.makeKey(own().origin).vkey] }))

        const cases: ReadonlyArray<Asked> = [
          ...[whole, redacted, received, json].map((each) => ({ name: "good", receipt: each, ...options })),
          ...forged.map(([name, draft]) => ({ name, receipt: JSON.stringify(draft), ...options })),
        ]
        const second = askSecond(cases)
        if (typeof second === "string") return skip(second)
        assert.deepStrictEqual(
          second.map((wrong) => wrong === null),
          cases.map(({ name }) => name === "good"),
          JSON.stringify(second),
        )
      }),
    300_000,
  )

  it.effect(
    "do not hold with a byte changed, in whatever part",
    function* () {
      const { pinned, receipt, send } = yield* start
      const options = yield* pinned
      const text = yield* receipt(`/v1/email/${yield* send}/receipt`)
      const bytes = new TextEncoder().encode(text)
      const same = JSON.stringify(JSON.parse(text))
      yield* Effect.promise(async () => {
        for (let at = 0; at < bytes.length; at += STEP) {
          const changed = bytes.with(at, (bytes[at] ?? 0) ^ 1)
          if ((await verify(changed, options)).holds)
            assert.strictEqual(JSON.stringify(JSON.parse(new TextDecoder().decode(changed))), same, `byte ${at}`)
        }
      })
    },
    300_000,
  )
})
