import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { MAX_MAIL_BYTES } from "@waybill/mail/aggregate/readAggregate"
import * as ReportParts from "@waybill/mail/report/ReportParts"
import { Sql } from "@waybill/store/postgres/Sql"
import { DEFAULT_MAX_BODY_BYTES } from "../../../apps/server/src/settings/HttpSettings.ts"
import { browser } from "../../server/signIn/house.ts"
import * as Smtp from "../../server/smtp/support.ts"
import { assert, layer } from "../../support/effectTest.ts"
import * as Database from "../../support/postgres/Database.ts"
import { type Document, documents } from "../../support/process/documents.ts"
import { htmlBesideText } from "../../support/mail/mailForms.ts"
import * as Pathological from "../../support/mail/pathological.ts"
import * as PathologicalAggregates from "../../support/mail/pathologicalAggregates.ts"
import * as PathologicalReports from "../../support/mail/pathologicalReports.ts"
import { freePort, WaybillCommand } from "../../support/process/service.ts"

/** Number of documents of each grammar: those that were slow once, and random ones. */
const COUNT = 80
/** Maximum processor time of the main thread between two turns of its event loop. */
const MAX_STALL_MS = 250
/** Reads of a document that stalled. A stall with another cause does not repeat in each. */
const STALL_READS = 3
const PLAIN = `${"plain text ".repeat(6)}\n`
/** Number of documents that are sent, delivered or shown at one time. */
const GROUP_SIZE = 20
/** Number of connections that submit documents at one time. */
const CONNECTIONS = 5
/** Number of attachments of a mail that is previewed. */
const IMAGES = 20
const TIMEOUT = Duration.seconds(300)

const MONITOR = new URL("../../support/stallMonitor.mjs", import.meta.url).href

type Documents = ReadonlyArray<Document>

/**
 * A service as an operator starts it, with the first key and the first owner's browser. `longestStall` returns the
 * longest stall since its last call.
 */
class Running extends Context.Service<
  Running,
  {
    readonly service: WaybillCommand
    readonly page: ReturnType<typeof browser>
    readonly key: string
    readonly call: (
      method: string,
      where: string,
      body?: string,
    ) => Promise<{ readonly status: number; readonly text: string }>
    /** Returns the return paths of captured mail by email id. */
    readonly captured: () => Promise<ReadonlyMap<string, string>>
    readonly smtpPort: number
    readonly mailPort: number
    readonly longestStall: () => Promise<number>
  }
>()("test/attack/Running") {
  static readonly layer = Layer.effect(
    Running,
    Effect.gen(function* () {
      const { url } = yield* Database.Fresh
      const sql = yield* Sql
      const [port, smtpPort, mailPort, monitorPort] = yield* Effect.promise(() =>
        Promise.all([freePort(), freePort(), freePort(), freePort()]),
      )
      const env = {
        PORT: String(port),
        SMTP_PORT: String(smtpPort),
        MAIL_PORT: String(mailPort),
        TRACKING_URL: "https://t.acme.test",
        DATABASE_URL: Redacted.value(url),
        WAYBILL_DATA: path.join(os.tmpdir(), "waybill-parsing"),
        WAYBILL_INSTANCE_KEY: randomBytes(32).toString("base64"),
        NODE_OPTIONS: `--import=${MONITOR}`,
        STALL_MONITOR_PORT: String(monitorPort),
      }
      const service = yield* Effect.acquireRelease(
        Effect.sync(() => new WaybillCommand(["start"], env)),
        (service) => Effect.promise(() => service.stop("SIGKILL")),
      )
      const welcome = yield* Effect.promise(() =>
        service.waitForOutput("API key    wb_").then(() => service.waitForOutput("Waybill is ready")),
      )
      const [, email = "", password = ""] = /Sign in {4}(\S+) \/ ([^\s"]+)/u.exec(welcome) ?? []
      const [, key = ""] = /API key {4}(wb_\w+)/u.exec(welcome) ?? []
      yield* sql`UPDATE accounts SET record = record || '{"granted": {"send": 100000, "logs": 100000, "other": 100000}}'`
      const base = `http://127.0.0.1:${port}`
      const page = browser(base)
      yield* page.signIn({ email, password })
      const call = async (method: string, where: string, body?: string) => {
        const response = await fetch(base + where, {
          method,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body }),
        })
        return { status: response.status, text: await response.text() }
      }
      yield* Effect.promise(() => call("POST", "/v1/domains", JSON.stringify({ name: "acme.test" })))
      const monitor = yield* Effect.acquireRelease(
        Effect.promise(() => connected(monitorPort)),
        (socket) => Effect.sync(() => socket.destroy()),
      )
      const mails = sql<{ readonly id: string; readonly mail_from: string }>`SELECT id, mail_from FROM sandbox_messages`
      return Running.of({
        service,
        page,
        key,
        call,
        captured: async () =>
          new Map((await Effect.runPromise(mails)).map(({ id, mail_from }) => [id, mail_from] as const)),
        smtpPort,
        mailPort,
        longestStall: async () => {
          monitor.write("?")
          return Number(await new Promise((resolve) => monitor.once("data", resolve)))
        },
      })
    }),
  )
}

const connected = async (port: number): Promise<net.Socket> => {
  const socket = net.connect(port, "127.0.0.1").setEncoding("utf8")
  await new Promise((resolve) => socket.once("connect", resolve))
  return socket
}

/** Returns plain text as long as a document, which costs the machine what its bytes cost. */
const plainOf = ({ text }: Document): Document | undefined => ({
  name: "plain",
  text: PLAIN.repeat(text.length / PLAIN.length),
})

/**
 * Reads groups of documents and returns those that stall: longer than `MAX_STALL_MS`, and twice as long as the document that
 * `like` returns, if any. A document that stalled is read again by itself, because a stall with another cause does not repeat.
 */
const stalls = (groups: ReadonlyArray<Documents>, read: (group: Documents) => Promise<unknown>, like = plainOf) =>
  Effect.flatMap(Running, ({ longestStall }) =>
    Effect.promise(async (): Promise<ReadonlyArray<string>> => {
      const stall = async (group: Documents): Promise<number> => {
        await longestStall()
        await read(group)
        return longestStall()
      }
      const stalled: Array<string> = []
      for (const group of groups) {
        if ((await stall(group)) <= MAX_STALL_MS) continue
        for (const document of group) {
          let ms = Number.POSITIVE_INFINITY
          for (let read = 0; read < STALL_READS && ms > MAX_STALL_MS; read++) ms = Math.min(ms, await stall([document]))
          if (ms <= MAX_STALL_MS) continue
          const plain = like(document)
          if (plain !== undefined && ms <= 2 * (await stall([plain]))) continue
          stalled.push(`${document.name}: ${Math.round(ms)} ms`)
        }
      }
      return stalled
    }),
  )

const oneByOne = (each: Iterable<Document>) => Array.from(each, (document) => [document])

const groupsOf = (each: Iterable<Document>, size = GROUP_SIZE): ReadonlyArray<Documents> => {
  const all = [...each]
  return Array.from({ length: Math.ceil(all.length / size) }, (_, nth) => all.slice(nth * size, (nth + 1) * size))
}

/** Returns the text as SMTP data: lines end in CRLF, and a leading dot is doubled. */
const dataOf = (text: string): Buffer =>
  Buffer.from(`${text.replaceAll(/\r?\n/gu, "\r\n").replaceAll(/^\./gmu, "..")}\r\n.\r\n`, "latin1")

/** Submits a group of documents, each on its own connection. */
const submitting =
  (clients: ReadonlyArray<Smtp.Raw>, commands: ReadonlyArray<string>, answer: RegExp) =>
  (group: Documents): Promise<unknown> =>
    Promise.all(
      group.map(async ({ name, text }, nth) => {
        const client = clients[nth]
        if (client === undefined) throw new Error("there are fewer connections than documents")
        assert.match((await client.all([...commands, "DATA"])).at(-1) ?? "", /^354 /u)
        client.write(dataOf(text.replace("{from}", "hi@acme.test")))
        assert.match(await client.reply(), answer, name)
      }),
    )

/** Opens connections to a listener; each has sent its first commands. */
const connections = (port: number, commands: ReadonlyArray<string>) =>
  Effect.forEach(Array.from({ length: CONNECTIONS }), () =>
    Effect.tap(Smtp.raw(port), (client) => Effect.promise(() => client.all(commands))),
  )

/** Builds a request. JSON escapes make HTML longer than in a mail, so that long HTML is cut to be accepted. */
const requestOf = (body: string, field: "html" | "text", fields: object): string => {
  const written = (body: string) =>
    JSON.stringify({ from: "hi@acme.test", to: "ana@example.org", subject: "s", ...fields, [field]: body })
  const fits = (DEFAULT_MAX_BODY_BYTES - 4_000) / Buffer.byteLength(written(body))
  return fits >= 1 ? written(body) : written(body.slice(0, Math.floor(body.length * fits * 0.98)))
}

const sending =
  ({ call }: Running["Service"], fields: object, field: "html" | "text" = "html") =>
  (group: Documents): Promise<ReadonlyArray<string>> =>
    Promise.all(
      group.map(async ({ text }) => {
        const sent = await call("POST", "/v1/email/send", requestOf(text, field, fields))
        assert.strictEqual(sent.status, 200, sent.text.slice(0, 300))
        return JSON.parse(sent.text).id as string
      }),
    )

const delivering =
  (...options: Parameters<typeof sending>) =>
  async (group: Documents) => {
    const [running] = options
    const ids = await sending(...options)(group)
    for (let arrived = await running.captured(); ids.some((id) => !arrived.has(id)); arrived = await running.captured())
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

const LARGEST = DEFAULT_MAX_BODY_BYTES - 100_000

const runningLayer = Running.layer.pipe(Layer.provideMerge(Database.layerFresh))

layer(runningLayer, { excludeTestServices: true, timeout: "120 seconds" })("the event loop is not blocked", (it) => {
  // threat: blocked-loop
  it.effect(
    `by ${COUNT} submitted pathological mails and ${COUNT} pathological headers`,
    function* () {
      const { key, smtpPort } = yield* Running
      const clients = yield* connections(smtpPort, ["EHLO x", Smtp.plain(key)])
      const commands = ["MAIL FROM:<hi@acme.test>", "RCPT TO:<ana@example.org>"]
      const submit = submitting(clients, commands, /^(?:250 2\.0\.0|55[24] 5\.\d\.\d) /u)
      for (const [seed, grammar] of [Pathological.MIME, Pathological.ADDRESSES].entries())
        assert.deepStrictEqual(
          yield* stalls(groupsOf(documents(grammar, seed, COUNT, LARGEST), CONNECTIONS), submit),
          [],
        )
    },
    Duration.toMillis(TIMEOUT),
  )

  // threat: blocked-loop
  it.effect(
    `by deriving text from ${COUNT} pathological pages of HTML or tracking the links of ${COUNT} more`,
    function* () {
      const running = yield* Running
      const pages = (seed: number) => groupsOf(documents(Pathological.HTML, seed, COUNT, LARGEST))
      assert.deepStrictEqual(yield* stalls(pages(3), delivering(running, {})), [])
      const tracking = { text: "x", tracking: { opens: true, clicks: true } }
      assert.deepStrictEqual(yield* stalls(pages(4), delivering(running, tracking)), [])
    },
    Duration.toMillis(TIMEOUT),
  )

  // threat: blocked-loop
  it.effect(
    `by showing ${COUNT} pathological mails or previewing ${COUNT} with their images`,
    function* () {
      const running = yield* Running
      const { call, captured, page } = running
      const lines = [{ name: "three million lines", text: "x\n".repeat(3_000_000) }]
      yield* Effect.promise(() => delivering(running, {}, "text")(lines))
      const ids = [...(yield* Effect.promise(captured)).keys()].slice(-COUNT)
      const show = async ([mail]: Documents) => {
        const { status } = await call("GET", `/v1/sandbox/messages/${mail?.text}`)
        assert.include([200, 422], status)
      }
      const shown = oneByOne(ids.map((id) => ({ name: `shown ${id}`, text: id })))
      assert.deepStrictEqual(yield* stalls(shown, show, () => undefined), [])
      const attachments = Array.from({ length: IMAGES }, (_, nth) => ({
        filename: `p${nth}.png`,
        content: "QUFB",
        content_id: `p${nth}`,
      }))
      // The mail is shown before it is delivered.
      const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
      const preview = async (group: Documents) => {
        for (const id of await sending(running, { text: "x", attachments, scheduled_at })(group))
          assert.strictEqual((await Effect.runPromise(page.request("GET", `/preview/emails/${id}`))).status, 200)
      }
      const pictures = groupsOf(documents(Pathological.PICTURES, 5, COUNT, LARGEST))
      assert.deepStrictEqual(yield* stalls(pictures, preview), [])
    },
    Duration.toMillis(TIMEOUT),
  )

  // threat: blocked-loop
  it.effect(
    `by ${COUNT} pathological reports and ${COUNT} pathological bounces in prose from a recipient`,
    function* () {
      const { captured, mailPort } = yield* Running
      const [returnPath = ""] = (yield* Effect.promise(captured)).values()
      const clients = yield* connections(mailPort, ["EHLO x"])
      const submit = submitting(clients, ["MAIL FROM:<>", `RCPT TO:<${returnPath}>`], /^(?:250 2\.6\.0|451 4\.3\.\d) /u)
      for (const [seed, grammar] of [PathologicalReports.REPORTS, PathologicalReports.BOUNCES].entries())
        assert.deepStrictEqual(
          yield* stalls(
            groupsOf(documents(grammar, seed, COUNT, 2 * ReportParts.REPORT_SIZE_LIMIT), CONNECTIONS),
            submit,
          ),
          [],
        )
    },
    Duration.toMillis(TIMEOUT),
  )

  // threat: blocked-loop
  it.effect(
    `by ${COUNT} pathological aggregate reports from a stranger`,
    function* () {
      const { mailPort } = yield* Running
      const clients = yield* connections(mailPort, ["EHLO x"])
      const recipient = "dmarc@bounces.localhost"
      const submit = submitting(clients, ["MAIL FROM:<>", `RCPT TO:<${recipient}>`], /^(?:250 2\.6\.0|451 4\.\d\.\d) /u)
      const groups = groupsOf(documents(PathologicalAggregates.AGGREGATES, 6, COUNT, MAX_MAIL_BYTES + 1), CONNECTIONS)
      assert.deepStrictEqual(yield* stalls(groups, submit), [])
    },
    Duration.toMillis(TIMEOUT),
  )

  // threat: blocked-loop
  it.effect(
    "by a flood of mails that are slow to parse: the service answers, and stops on SIGTERM",
    () =>
      Effect.gen(function* () {
        const { call, captured, longestStall, mailPort, service } = yield* Running
        const [returnPath = ""] = (yield* Effect.promise(captured)).values()
        // Connects one client after another: an address may have fewer connections at once before a recipient is
        // accepted.
        const clients = yield* Effect.forEach(Array.from({ length: FLOOD_CONNECTIONS }), () =>
          Effect.tap(Smtp.raw(mailPort), (client) =>
            Effect.promise(() => client.all(["EHLO x", "MAIL FROM:<>", `RCPT TO:<${returnPath}>`, "DATA"])),
          ),
        )
        yield* Effect.promise(longestStall)
        for (const client of clients) client.write(dataOf(CUBIC))
        assert.strictEqual((yield* Effect.promise(() => call("GET", "/v1/account"))).status, 200)
        const replies = yield* Effect.promise(() => Promise.all(clients.map((client) => client.reply())))
        for (const reply of replies) assert.match(reply, /^(?:250 2\.6\.0|451 4\.3\.2) /u)
        assert.isAtMost(yield* Effect.promise(longestStall), MAX_STALL_MS)

        yield* Effect.promise(() =>
          Promise.all(clients.map((client) => client.all(["MAIL FROM:<>", `RCPT TO:<${returnPath}>`, "DATA"]))),
        )
        for (const client of clients) {
          client.write(dataOf(CUBIC))
          void client.reply().then(() => client.end())
        }
        const { code } = yield* Effect.promise(() => service.stop("SIGTERM"))
        assert.strictEqual(code, 0)
      }).pipe(Effect.timeout(TIMEOUT)),
    2 * Duration.toMillis(TIMEOUT),
  )
})

/** Number of connections from one address. */
const FLOOD_CONNECTIONS = 50

/** 5 KB of HTML from which postal-mime derives the text in three seconds. */
const CUBIC = htmlBesideText("a@b.test", `<a ${"href=".repeat(1_000)}`)
