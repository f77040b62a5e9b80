import * as Account from "@waybill/domain/account/Account"
import * as ApiKey from "@waybill/domain/account/ApiKey"
import type * as DomainName from "@waybill/domain/values/DomainName"
import * as Email from "@waybill/domain/email/Email"
import * as EmailReport from "@waybill/domain/email/EmailReport"
import type { AccountId, ApiKeyId, EmailId } from "@waybill/domain/values/Id"
import type * as Network from "@waybill/domain/values/Network"
import type { Plan } from "@waybill/domain/account/Plan"
import type * as Scope from "@waybill/domain/account/Scope"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as EmailLogQuery from "@waybill/store/search/EmailLogQuery"
import * as Content from "@waybill/store/content/Content"
import { Admission } from "@waybill/store/admission/Admission"
import { EventStore } from "@waybill/store/commit/EventStore"
import { KeyUses } from "@waybill/store/admission/KeyUses"
import { Clock, Effect, Layer, Option } from "effect"
import * as net from "node:net"
import * as tls from "node:tls"
import { readFileSync } from "node:fs"
import nodemailer, { type SendMailOptions } from "nodemailer"
import type SMTPTransport from "nodemailer/lib/smtp-transport/index.js"
import * as NewApiKeys from "../../../apps/server/src/operate/NewApiKeys.ts"
import * as Programs from "../../../apps/server/src/templates/Programs.ts"
import type * as InboundMail from "../../../apps/server/src/smtp/InboundMail.ts"
import * as Submission from "../../../apps/server/src/smtp/Submission.ts"
import * as DatabaseClock from "../../support/DatabaseClock.ts"
import { dnsZones } from "../../support/mail/dnsZones.ts"
import * as World from "../../support/world/World.ts"
import { id } from "../../support/history.ts"

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), "utf8")
export const CERTIFICATE = { key: fixture("server.key"), cert: fixture("server.pem") }
export const CA = fixture("ca.pem")

/** The services of a node on a new database, with a DNS that knows no name. */
const layerOn = <A, E, R>(world: Layer.Layer<A, E, R>) =>
  Admission.layer.pipe(
    Layer.provide(KeyUses.layer),
    Layer.provideMerge(world),
    Layer.provideMerge(dnsZones({})),
    Layer.provideMerge(Programs.layer),
  )

export const layer = layerOn(World.layer)

/** Its minutes end when a test says so. */
export const layerOfOneMinute = layerOn(World.layerOn(DatabaseClock.layerFresh))

export const MAX_MESSAGE_BYTES = 1024 * 1024

/** Mail other than reports, for a listener that no such mail comes to. */
export const REPORTS_ONLY: InboundMail.OtherMail<never> = {
  keep: () => ({ bytes: 0 }),
  receives: () => Effect.succeed(false),
  message: () => Effect.die("mail came for no recipient"),
}

export const submission = (options: Partial<Submission.Options> = {}) =>
  Submission.listen({
    host: "127.0.0.1",
    port: 0,
    name: "waybill.test",
    maxMessageBytes: MAX_MESSAGE_BYTES,
    tracks: false,
    ...options,
  })

export interface Customer {
  readonly account_id: AccountId
  readonly secret: string
  readonly keyId: ApiKeyId
  readonly domain: string
  readonly sender: World.SendingDomain
}

let customers = 0

export interface CustomerOptions {
  readonly plan?: Plan
  readonly scopes?: ReadonlyArray<Scope.Scope>
  readonly keyDomain?: string
  readonly allowed_ips?: ReadonlyArray<string>
  readonly expires_at?: Timestamp.Timestamp
}

/** An account with a verified domain and a sending key. */
export const customer = Effect.fnUntraced(function* (options: CustomerOptions = {}) {
  const store = yield* EventStore
  const account_id = id("AccountId")
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  const create = Account.create(now, account_id, "Acme", options.plan ?? "growth")
  yield* Effect.orDie(store.commit(Account, { account_id, stream_id: account_id }, create))
  const domain = `acme${customers++}.test`
  const sender = yield* World.verifiedDomain(domain, account_id)
  const { keyId, secret } = yield* Effect.orDie(
    NewApiKeys.createApiKey(account_id, null, {
      name: "test",
      scopes: options.scopes ?? ["email:send"],
      domain: (options.keyDomain ?? null) as DomainName.DomainName | null,
      allowed_ips: (options.allowed_ips ?? []) as ReadonlyArray<Network.Network>,
      expires_at: options.expires_at ?? null,
    }),
  )
  return { account_id, secret, keyId, domain, sender } satisfies Customer
})

export const revoke = Effect.fnUntraced(function* ({ account_id, keyId }: Customer) {
  const store = yield* EventStore
  const now = Timestamp.fromMillis(yield* Clock.currentTimeMillis)
  yield* Effect.orDie(store.commit(ApiKey, { account_id, stream_id: keyId }, ApiKey.revoke(now)))
})

/** Accepted messages of the account, oldest first. */
export const accepted = Effect.fnUntraced(function* (account_id: AccountId) {
  const store = yield* EventStore
  const { data } = yield* EmailLogQuery.list({ account_id, limit: 1_000 })
  return yield* Effect.forEach(data.map(({ id }) => id as EmailId).toReversed(), (id) =>
    Effect.gen(function* () {
      const { history, state } = yield* store.load(Email, { account_id, stream_id: id })
      if (state._tag === "NotCreated") return yield* Effect.die(new Error("a row without a stream"))
      const content = yield* Content.findComplete(account_id, state.accepted.content)
      return { id, history, ...state.accepted, body: Option.getOrThrow(content) }
    }),
  )
})

/** Response of a server that took a message. */
export const DELIVERED = {
  code: 250,
  enhanced_code: null,
  response: "OK",
  mx: null,
  tls: null,
  duration_ms: 1,
  category: null,
  attempt: 1,
}

/** A message of a new customer that was delivered to these recipients, each by an attempt of its own. */
export const delivered = Effect.fnUntraced(function* (...addresses: ReadonlyArray<string>) {
  const { sender } = yield* customer()
  const ref = yield* World.send(sender, { to: addresses.map((address) => ({ address })) })
  const { commit } = yield* EventStore
  const at = "2026-11-21T12:00:00.000Z" as never
  for (const address of addresses)
    yield* Effect.orDie(commit(Email, ref, EmailReport.recordDelivered(at, address as never, DELIVERED)))
  return ref
})

export const transport = (port: number, pass: string, options: SMTPTransport.Options = {}) =>
  nodemailer.createTransport({ host: "127.0.0.1", port, ignoreTLS: true, auth: { user: "anybody", pass }, ...options })

export interface Failure {
  readonly responseCode: number
  readonly response: string
}

/** Reply to nodemailer: the last line of the 250, or the refusal. */
export const send = (port: number, pass: string, mail: SendMailOptions, options: SMTPTransport.Options = {}) =>
  Effect.promise(async (): Promise<string> => {
    const client = transport(port, pass, options)
    try {
      return (await client.sendMail(mail)).response?.split("\n").at(-1) ?? ""
    } catch (error) {
      const { response } = error as Partial<Failure>
      if (response === undefined) throw error
      return response
    } finally {
      client.close()
    }
  })

/** An SMTP client that sends given bytes and reads all replies. */
export class Raw {
  #heard = ""
  #waiting: (() => void) | undefined
  #socket: net.Socket
  closed = false

  private constructor(socket: net.Socket) {
    this.#socket = socket
    this.#listen()
  }

  static async connect(port: number, host = "127.0.0.1", localAddress?: string): Promise<Raw> {
    const socket = net.connect({ port, host, ...(localAddress === undefined ? {} : { localAddress }) })
    const raw = new Raw(socket)
    await raw.reply()
    return raw
  }

  #listen() {
    this.#socket.setEncoding("latin1")
    this.#socket.on("data", (text: string) => {
      this.#heard += text
      this.#waiting?.()
    })
    this.#socket.on("error", () => undefined)
    this.#socket.on("close", () => {
      this.closed = true
      this.#waiting?.()
    })
  }

  write(text: string | Buffer): void {
    this.#socket.write(text)
  }

  /** Returns the last line of the next reply. */
  async reply(): Promise<string> {
    while (true) {
      const match = /^(?:\d{3}-[^\n]*\n)*(\d{3} [^\r\n]*)\r\n/u.exec(this.#heard)
      if (match !== null) {
        this.#heard = this.#heard.slice(match[0].length)
        return match[1] ?? ""
      }
      if (this.closed) return "closed"
      await new Promise<void>((resolve) => (this.#waiting = resolve))
    }
  }

  /** Returns all lines of the next reply. */
  async lines(command: string): Promise<ReadonlyArray<string>> {
    this.write(`${command}\r\n`)
    while (!/^(?:\d{3}-[^\n]*\n)*\d{3} [^\r\n]*\r\n/u.test(this.#heard) && !this.closed)
      await new Promise<void>((resolve) => (this.#waiting = resolve))
    const lines = this.#heard.split("\r\n").filter((each) => each !== "")
    this.#heard = ""
    return lines
  }

  async say(line: string): Promise<string> {
    this.write(`${line}\r\n`)
    return this.reply()
  }

  async all(lines: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    const replies: Array<string> = []
    for (const line of lines) replies.push(await this.say(line))
    return replies
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await new Promise<void>((resolve) => (this.#waiting = resolve))
  }

  /** Starts TLS after the reply to STARTTLS. */
  async secure(): Promise<void> {
    const plain = this.#socket
    plain.removeAllListeners("data")
    plain.removeAllListeners("close")
    const socket = tls.connect({ socket: plain, ca: CA, servername: "localhost", checkServerIdentity: () => undefined })
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve)
      socket.once("error", reject)
    })
    this.#socket = socket
    this.#listen()
  }

  end(): void {
    this.#socket.destroy()
  }
}

/** A client that is closed with the test. */
export const raw = (port: number, host?: string, localAddress?: string) =>
  Effect.acquireRelease(
    Effect.promise(() => Raw.connect(port, host, localAddress)),
    (client) => Effect.sync(() => client.end()),
  )

export const plain = (secret: string): string => `AUTH PLAIN ${Buffer.from(`\0any\0${secret}`).toString("base64")}`
