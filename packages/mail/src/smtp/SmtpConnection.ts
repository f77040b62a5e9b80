import { Effect, Redacted, Schema } from "effect"
import { hash } from "node:crypto"
import type * as tls from "node:tls"
import * as AnswerBudget from "../dns/AnswerBudget.ts"
import * as DanePeer from "../dane/DanePeer.ts"
import * as Reply from "../reply/Reply.ts"
import type { WireReply } from "./ReplyLines.ts"
import type * as SmtpCommands from "./SmtpCommands.ts"
import * as SmtpExchange from "./SmtpExchange.ts"
import type * as SmtpTransaction from "./SmtpTransaction.ts"
import * as SmtpTimeouts from "./SmtpTimeouts.ts"
import { SmtpWire } from "./SmtpWire.ts"
import { WireError } from "./WireError.ts"

/** TLS 1.0 and 1.1 are deprecated by RFC 8996; falling back to them is worse than reporting that TLS failed. */
export const TLS_MINIMUM = "TLSv1.2"

/**
 * `implicit`: TLS from the first octet (port 465). `required`: by STARTTLS. `opportunistic`: by STARTTLS where offered,
 * without checking the certificate (RFC 7435). `none`: in the clear.
 */
export interface TlsRule {
  readonly mode: "implicit" | "required" | "opportunistic" | "none"
  readonly verify: boolean
  /** Certificates to trust in addition to those of the system. */
  readonly ca?: string | Buffer
  /** Certificate that the server's zone demands; it replaces `verify` and `ca`. */
  readonly dane?: DanePeer.DanePeer
}

export interface Target {
  /** Name of the server, for its certificate and for the records. */
  readonly host: string
  /** Where to connect: an address that was checked and pinned, or a name for the system to resolve. */
  readonly address: string
  readonly port: number
}

export interface Options extends Target {
  /** Address of this host to connect from; by default the kernel chooses. */
  readonly localAddress?: string | undefined
  /** Name of this side in EHLO. */
  readonly name: string
  readonly tls: TlsRule
  readonly login?: { readonly user: string; readonly password: Redacted.Redacted } | undefined
  readonly timeouts?: Partial<SmtpTimeouts.Timeouts> | undefined
}

/** No session was opened, so no message was touched and another server may be tried. */
export class ConnectFailed extends Schema.TaggedError<ConnectFailed>()("ConnectFailed", {
  host: Schema.String,
  stage: Schema.Literals(["connect", "greeting", "ehlo", "starttls", "auth"]),
  kind: Schema.Literals([
    "refused",
    "unreachable",
    "timeout",
    "closed",
    "tls",
    "dane",
    "protocol",
    "reply",
    "dns",
    "nowhere",
    "source",
  ]),
  reply: Schema.NullOr(Schema.String),
  detail: Schema.String,
}) {
  override get message() {
    return `${this.host} at ${this.stage}: ${this.reply ?? this.detail}`
  }
}

export interface SmtpConnection {
  readonly target: Target
  readonly tls: string | null
  /** SHA-256 of the server's certificate in base64url; undefined without TLS. */
  readonly certificate_sha256: string | undefined
  readonly offers: (extension: string) => boolean
  /** Never fails: each recipient gets an answer, even if the connection was lost. */
  readonly send: (transaction: SmtpCommands.Envelope) => Effect.Effect<ReadonlyArray<SmtpTransaction.RecipientReply>>
  /** Whether another message may be sent over it. */
  readonly isUsable: () => boolean
  readonly quit: Effect.Effect<void>
  readonly destroy: () => void
}

/** Interruption closes the socket. The caller must quit or destroy the connection. */
export const open = (options: Options): Effect.Effect<SmtpConnection, ConnectFailed> =>
  Effect.tryPromise({
    try: (signal) => handshake(options, { ...SmtpTimeouts.TIMEOUTS, ...options.timeouts }, signal),
    catch: (cause) => cause,
  }).pipe(
    Effect.catch((cause) => (cause instanceof ConnectFailed ? Effect.fail(cause) : Effect.die(cause))),
    Effect.map((session) => fromSession(options, session)),
  )

const fromSession = (options: Options, session: SmtpTransaction.Session): SmtpConnection => ({
  target: { host: options.host, address: options.address, port: options.port },
  tls: session.wire.protocol,
  certificate_sha256: certificateOf(session.wire.secure),
  offers: (extension) => session.extensions.has(extension),
  // A callback, since a promise with a signal costs an event target for each message.
  send: (transaction) =>
    Effect.callback((resume) => {
      SmtpExchange.send(session, transaction, {
        answered: (answers) => resume(Effect.succeed(answers)),
        died: (defect) => resume(Effect.die(defect)),
      })
      return Effect.sync(() => session.wire.destroy())
    }),
  isUsable: () => !session.isClosed && session.wire.isQuiet,
  quit: Effect.promise(async (signal) => {
    session.isClosed = true
    signal.addEventListener("abort", () => session.wire.destroy(), { once: true })
    if (session.wire.isQuiet) {
      session.wire.write("QUIT\r\n")
      await session.wire.read(session.timeouts.quit_ms).catch(() => undefined)
    }
    session.wire.destroy()
  }),
  destroy: () => {
    session.isClosed = true
    session.wire.destroy()
  },
})

const certificateOf = (socket: tls.TLSSocket | undefined): string | undefined => {
  const certificate = socket?.getPeerX509Certificate()
  return certificate === undefined ? undefined : hash("sha256", certificate.raw, "base64url")
}

type Stage = ConnectFailed["stage"]

const handshake = async (
  options: Options,
  timeouts: SmtpTimeouts.Timeouts,
  signal: AbortSignal,
  isAgain = false,
): Promise<SmtpTransaction.Session> => {
  let stage: Stage = "connect"
  const failed = (kind: ConnectFailed["kind"], detail: string, reply: WireReply | null = null) =>
    new ConnectFailed({
      host: options.host,
      stage,
      kind,
      detail,
      reply: reply === null ? null : reply.lines.join("\n"),
    })
  let wire: SmtpWire | undefined
  const abort = () => wire?.destroy()
  try {
    const { address: host, localAddress, port } = options
    const from = localAddress === undefined ? {} : { localAddress }
    wire = await SmtpWire.connect({ host, port, ...from }, timeouts.connect_ms, signal)
    // The listener stays: an interruption between the end of this promise and its notice must close the socket too.
    signal.addEventListener("abort", abort, { once: true })
    if (options.tls.mode === "implicit") {
      stage = "starttls"
      await wire.upgrade(tlsOptions(options), timeouts.tls_ms)
    }
    stage = "greeting"
    const greeting = await wire.read(timeouts.greeting_ms)
    if (greeting.code !== 220) throw failed("reply", "refused at the greeting", greeting)
    stage = "ehlo"
    let extensions = await hello(wire, options.name, timeouts, failed)
    const encrypts = options.tls.mode === "required" || options.tls.mode === "opportunistic"
    if (encrypts && extensions.has("STARTTLS")) {
      stage = "starttls"
      const answer = await command(wire, "STARTTLS", timeouts.tls_ms)
      if (answer.code === 220) {
        const check = options.tls.dane === undefined ? undefined : DanePeer.checkOf(options.tls.dane)
        await wire.upgrade({ ...tlsOptions(options), ...check?.options }, timeouts.tls_ms)
        const problem = wire.secure === undefined ? undefined : check?.problemOf(wire.secure)
        if (problem !== undefined) {
          if (isAgain || !problem.hasNewAnchor) throw failed("dane", problem.detail)
          wire.destroy()
          return await handshake(options, timeouts, signal, true)
        }
        stage = "ehlo"
        // Extensions offered in the clear may have been altered on the way (RFC 3207 §4.2).
        extensions = await hello(wire, options.name, timeouts, failed)
      } else throw failed("tls", "the server offered STARTTLS and then refused it", answer)
    } else if (options.tls.mode === "required") {
      stage = "starttls"
      throw failed("tls", "STARTTLS is required, but the server does not offer it")
    }
    if (options.login !== undefined) {
      stage = "auth"
      await login(wire, options.login, extensions.get("AUTH") ?? "", timeouts, failed)
    }
    return { wire, extensions, timeouts, isClosed: false, needsReset: false }
  } catch (error) {
    wire?.destroy()
    throw error instanceof WireError ? failed(error.kind, error.message) : error
  }
}

type Failed = (kind: ConnectFailed["kind"], detail: string, reply?: WireReply) => ConnectFailed

const command = (wire: SmtpWire, line: string, timeout_ms: number): Promise<WireReply> => {
  wire.write(`${line}\r\n`)
  return wire.read(timeout_ms)
}

const hello = async (wire: SmtpWire, name: string, timeouts: SmtpTimeouts.Timeouts, failed: Failed) => {
  const answer = await command(wire, `EHLO ${name}`, timeouts.ehlo_ms)
  if (answer.code === 250) return extensionsOf(answer)
  // RFC 5321 §3.2: a server without EHLO gets the greeting of RFC 821, and has no extensions.
  if (answer.code < 500) throw failed("reply", "refused at EHLO", answer)
  const older = await command(wire, `HELO ${name}`, timeouts.ehlo_ms)
  if (older.code !== 250) throw failed("reply", "refused at HELO", older)
  return new Map<string, string>()
}

const extensionsOf = (answer: WireReply): ReadonlyMap<string, string> => {
  const extensions = new Map<string, string>()
  for (const line of answer.lines.slice(1)) {
    const [keyword = "", ...parameters] = line.slice(4).trim().split(/[ =]/u)
    extensions.set(keyword.toUpperCase(), parameters.join(" "))
  }
  return extensions
}

const login = async (
  wire: SmtpWire,
  { password, user }: NonNullable<Options["login"]>,
  offered: string,
  timeouts: SmtpTimeouts.Timeouts,
  failed: Failed,
): Promise<void> => {
  const mechanisms = offered.toUpperCase().split(" ")
  const base64 = (text: string) => Buffer.from(text).toString("base64")
  const say = (line: string) => command(wire, line, timeouts.auth_ms)
  if (mechanisms.includes("PLAIN")) {
    const answer = await say(`AUTH PLAIN ${base64(`\0${user}\0${Redacted.value(password)}`)}`)
    if (answer.code !== 235) throw failed("reply", "the login was refused", answer)
    return
  }
  if (!mechanisms.includes("LOGIN")) throw failed("protocol", "the server offers neither AUTH PLAIN nor AUTH LOGIN")
  let answer = await say("AUTH LOGIN")
  if (answer.code === 334) answer = await say(base64(user))
  if (answer.code === 334) answer = await say(base64(Redacted.value(password)))
  if (answer.code !== 235) throw failed("reply", "the login was refused", answer)
}

const tlsOptions = (options: Options): tls.ConnectionOptions => ({
  minVersion: TLS_MINIMUM,
  ...AnswerBudget.TLS_OPTIONS,
  rejectUnauthorized: options.tls.verify,
  host: options.host,
  // SNI carries names only (RFC 6066 §3).
  ...(/^[\d.]+$|:/u.test(options.host) ? {} : { servername: options.host }),
  ...(options.tls.ca === undefined ? {} : { ca: options.tls.ca }),
})

/** Returns a refusal of the session as a reply. */
export const replyOf = (failure: ConnectFailed): Reply.Reply | undefined =>
  failure.reply === null ? undefined : Reply.parse(failure.reply, failure.stage)
