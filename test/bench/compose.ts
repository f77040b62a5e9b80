import * as Address from "@waybill/domain/values/Address"
import * as Id from "@waybill/domain/values/Id"
import * as Compose from "@waybill/mail/compose/Compose"
import * as Dkim from "@waybill/mail/dkim/Dkim"
import * as DkimKey from "@waybill/mail/dkim/DkimKey"
import type * as Message from "@waybill/mail/compose/Message"
import type { Timestamp } from "@waybill/domain/values/Timestamp"
import { Effect, Redacted, Result } from "effect"
import { createPrivateKey } from "node:crypto"
import { createRequire } from "node:module"
import * as Measure from "./report/Measure.ts"

// Cost of composing and signing a message, beside nodemailer's own ways, in one run on one thread pool. Loads the
// nodemailer of packages/mail, not the older one that the test server depends on.
const mailPackage = createRequire(new URL("../../packages/mail/package.json", import.meta.url))
const { default: MailComposer } = mailPackage("nodemailer/lib/mail-composer") as {
  default: new (mail: object) => { compile: () => Node }
}
const { default: NodemailerDkim } = mailPackage("nodemailer/lib/dkim") as {
  default: new (options: object) => { sign: (input: Buffer) => NodeJS.ReadableStream }
}
const { encode: encodeQp, wrap: wrapQp } = mailPackage("nodemailer/lib/qp") as {
  encode: (text: Buffer) => string
  wrap: (text: string, length: number) => string
}

interface Node {
  readonly multipart: string | false
  readonly boundary: string
  readonly childNodes: ReadonlyArray<Node>
  readonly content: string | Buffer | undefined
  readonly build: () => Promise<Buffer>
  readonly buildHeaders: () => string
  readonly getTransferEncoding: () => string
}

const ROUNDS = { rounds: 3, millis: 900, warmUpMillis: 500 }
/** Number of messages in flight, as in a drain. */
const LOOPS = 8

const sentence =
  "Thank you for your order, Ana. It left our house today and will be with you on Tuesday at the latest. "
const text = sentence.repeat(15)
const html = `<!doctype html><html><body><table>${`<tr><td style="padding:8px">${sentence}</td></tr>\n`.repeat(11)}</table></body></html>`
const file = Buffer.alloc(200_000, "0123456789 abcdefghijklmnopqrstuvwxyz")

const address = (value: string) => Result.getOrThrow(Address.parseAddress(value))
const at = "2026-11-21T10:15:20.123Z" as Timestamp
const ours = (attached: boolean): Message.Message => ({
  id: Id.make("EmailId", Date.parse(at), Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])),
  createdAt: at,
  from: { address: address("hi@acme.test"), name: "Acme" },
  to: [{ address: address("ana@example.org"), name: "Ana Nováková" }],
  subject: "Your receipt for order № 4711",
  text,
  html,
  headers: { "X-Order": "4711" },
  ...(attached ? { attachments: [{ filename: "receipt.pdf", content: file }] } : {}),
})
const theirs = (attached: boolean) => ({
  messageId: "<msg_1@acme.test>",
  date: new Date(at),
  from: { address: "hi@acme.test", name: "Acme" },
  to: [{ address: "ana@example.org", name: "Ana Nováková" }],
  subject: "Your receipt for order № 4711",
  text,
  html,
  headers: { "X-Order": "4711" },
  disableFileAccess: true,
  disableUrlAccess: true,
  ...(attached ? { attachments: [{ filename: "receipt.pdf", content: file }] } : {}),
})

/** Serializes nodemailer's tree without its streams, the alternative to our own composer. */
const walk = (node: Node): string => {
  const head = `${node.buildHeaders()}\r\n\r\n`
  if (node.multipart !== false) {
    const parts = node.childNodes.map((child) => `--${node.boundary}\r\n${walk(child)}\r\n`)
    return `${head}${parts.join("")}--${node.boundary}--\r\n`
  }
  const content = typeof node.content === "string" ? Buffer.from(node.content) : (node.content ?? Buffer.alloc(0))
  switch (node.getTransferEncoding()) {
    case "quoted-printable":
      return head + wrapQp(encodeQp(content), 76)
    case "base64":
      return head + content.toString("base64").replace(/.{76}/g, "$&\r\n")
    default:
      return head + content.toString().replace(/\r?\n/g, "\r\n")
  }
}

const rsa = await Effect.runPromise(DkimKey.generateRsa)
const ed25519 = await Effect.runPromise(DkimKey.generateEd25519)
const rsaKey: Dkim.Key = {
  id: "rsa",
  domain: "acme.test",
  selector: "wb1",
  algorithm: "rsa",
  privateKey: rsa.privateKey,
}
const ed25519Key: Dkim.Key = {
  ...rsaKey,
  id: "ed",
  selector: "wb2",
  algorithm: "ed25519",
  privateKey: ed25519.privateKey,
}
const pem = createPrivateKey({ key: Buffer.from(Redacted.value(rsa.privateKey)), format: "der", type: "pkcs8" }).export(
  { format: "pem", type: "pkcs8" },
)
const nodemailerDkim = new NodemailerDkim({ domainName: "acme.test", keySelector: "wb1", privateKey: pem })

const drained = async (stream: NodeJS.ReadableStream): Promise<number> => {
  let size = 0
  for await (const chunk of stream) size += chunk.length
  return size
}
const composed = (attached: boolean) => Result.getOrThrow(Compose.compose(ours(attached))).bytes
const signed = (keys: ReadonlyArray<Dkim.Key>, attached: boolean) =>
  Effect.runPromise(Dkim.sign(composed(attached), keys))

/** Processor time over all threads, which is steadier than wall time on a shared machine. */
const cpu = new Map<string, { micros: number; done: number }>()
const contender = (name: string, operation: () => Promise<unknown>): Measure.Contender => ({
  name,
  run: async (millis) => {
    const before = process.cpuUsage()
    const load = await Measure.hammer(LOOPS, millis, operation)
    const { system, user } = process.cpuUsage(before)
    const sum = cpu.get(name) ?? { micros: 0, done: 0 }
    cpu.set(name, { micros: sum.micros + system + user, done: sum.done + load.done })
    return load
  },
})

const settings = [
  { title: "1.5 KB of text and of HTML", attached: false },
  { title: "the same with a file of 200 KB", attached: true },
]
const answers = []
for (const { attached, title } of settings) {
  cpu.clear()
  const results = await Measure.rounds(
    [
      contender("nodemailer, built by its streams", () => new MailComposer(theirs(attached)).compile().build()),
      contender("nodemailer's tree, walked at once", async () =>
        Buffer.from(walk(new MailComposer(theirs(attached)).compile())),
      ),
      contender("compose", async () => composed(attached)),
      contender("nodemailer + its DKIM", async () =>
        drained(nodemailerDkim.sign(await new MailComposer(theirs(attached)).compile().build())),
      ),
      contender("compose + RSA-2048", () => signed([rsaKey], attached)),
      contender("compose + RSA-2048 + Ed25519", () => signed([rsaKey, ed25519Key], attached)),
    ],
    ROUNDS,
  )
  answers.push({
    title,
    results: results.map((result) => {
      const { done, micros } = cpu.get(result.name) ?? { done: 1, micros: 0 }
      return { ...result, cpuMicros: Math.round(micros / done) }
    }),
  })
}

const HEAD = ["", "a second", "CPU µs each"]
Measure.answer(
  { settings: answers },
  answers
    .map(
      ({ results, title }) =>
        `${title}\n${Measure.table(
          HEAD,
          results.map((result) => [result.name, Measure.rate(result.perSecond.median), Measure.rate(result.cpuMicros)]),
        )}`,
    )
    .join("\n\n"),
  answers.flatMap(({ results, title }) => [
    {
      what: `compose against nodemailer's streams, ${title}`,
      measured: Measure.ratio(results, "compose", "nodemailer, built by its streams"),
      unit: "times",
    },
    {
      what: `compose and RSA-2048 against nodemailer and its DKIM, ${title}`,
      measured: Measure.ratio(results, "compose + RSA-2048", "nodemailer + its DKIM"),
      unit: "times",
    },
  ]),
)
