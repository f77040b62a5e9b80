import { Cause, type Context, Duration, Effect, Exit, type Scope } from "effect"
import { constants } from "node:crypto"
import type * as net from "node:net"
import { SMTPServer, type SMTPServerSession } from "smtp-server"
import { Connection, isLoopback, type Rules } from "./Connection.ts"
import * as Handshakes from "./Handshakes.ts"
import * as Intake from "./Intake.ts"
import * as ConnectionSlots from "./ConnectionSlots.ts"
import { reply, type SmtpReply, TROUBLE } from "./SmtpReply.ts"

export interface Tls {
  readonly key: string
  readonly cert: string
}

/** What one connection is allowed to take; each kind of listener names its numbers. */
export interface Limits {
  readonly maxConnections: number
  /** Of an IPv4 address, or an IPv6 /64. */
  readonly maxConnectionsPerAddress: number
  /** Connections that have not shown who they are; the rest of `maxConnections` is reserved for those that have. */
  readonly maxStrangers: number
  readonly maxStrangersPerAddress: number
  readonly maxRecipients: number
  readonly maxMessageBytes: number
  /** Without a word from the client (RFC 5321 §4.5.3.2.7 asks for at least 5 minutes). */
  readonly idle: Duration.Duration
  /** From DATA to its end, however slowly bytes trickle in. */
  readonly message: Duration.Duration
  /** Until a login has succeeded; where there is none, until the client has to be gone. */
  readonly stranger: Duration.Duration
  /** The same while strangers have more than half of their places. */
  readonly strangerInCrowd: Duration.Duration
  /** Of connections still open when the service stops. */
  readonly stopWithin: Duration.Duration
}

export interface Client {
  readonly id: string
  readonly address: string
}

export interface Transaction<Login> extends Client {
  readonly login: Login
  readonly from: string
  readonly recipients: ReadonlyArray<string>
}

export interface Handlers<Login, R> {
  /** `undefined` where nobody logs in. */
  readonly login: ((password: string, client: Client) => Effect.Effect<Login, SmtpReply, R>) | undefined
  readonly mail: (client: Client, login: Login | undefined) => Effect.Effect<void, SmtpReply, R>
  readonly recipient: (address: string, client: Client) => Effect.Effect<void, SmtpReply, R>
  /** Answers with the words of the 250. */
  readonly message: (bytes: Buffer, transaction: Transaction<Login>) => Effect.Effect<string, SmtpReply, R>
}

export interface Options {
  readonly host: string
  /** 0 for one that the system chooses. */
  readonly port: number
  /** How it greets. */
  readonly name: string
  readonly limits: Limits
  readonly tls?: Tls
  /** Whose login may come in the clear; this machine's, unless somebody knows better. */
  readonly isLocal?: (address: string) => boolean
  /** Line ends other than CRLF are refused: who writes them wants somebody to disagree about where a message ends. */
  readonly strictLines: boolean
  /** Of a longer message only the beginning is kept. */
  readonly keepBytes?: number
}

/** The library has its own words for these and the service has no use for them. */
const DISABLED = ["XCLIENT", "XFORWARD", "WIZ", "SHELL", "KILL"]
const UNAUTHENTICATED_COMMANDS = 10
const NO_RENEGOTIATION = constants.SSL_OP_NO_RENEGOTIATION

/** On one connection: whoever is wrong more often is guessing. */
export const MAX_REFUSED_RECIPIENTS = 20
const GUESSING = reply(421, "4.7.0", "Too many recipients were refused on this connection")

/** Listens until the scope closes; answers with the port. */
export const listen = <Login, R>(
  options: Options,
  handlers: Handlers<Login, R>,
): Effect.Effect<number, Error, R | Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const { limits, tls } = options
    const run = <A>(effect: Effect.Effect<A, SmtpReply, R>, done: (error: SmtpReply | null, value?: A) => void): void =>
      void Effect.runCallback(Effect.provideContext(guarded(effect), context as Context.Context<R>), {
        onExit: (exit) => (Exit.isSuccess(exit) ? done(null, exit.value) : done(refusalIn(exit.cause))),
      })

    const intake = Intake.make({
      maxMessageBytes: limits.maxMessageBytes,
      strictLines: options.strictLines,
      ...(options.keepBytes === undefined ? {} : { keepBytes: options.keepBytes }),
    })
    const refused = new WeakMap<SMTPServerSession, number>()
    // A certificate that is none is found out here.
    const server = yield* Effect.try({
      try: () =>
        new SMTPServer({
          name: options.name,
          logger: false,
          disableReverseLookup: true,
          hideENHANCEDSTATUSCODES: false,
          authMethods: ["PLAIN", "LOGIN"],
          authOptional: handlers.login === undefined,
          authRequiredMessage: "5.7.0 Log in first, with an API key as the password",
          // Whether a login may go in the clear depends on who comes from where: the connection decides it.
          allowInsecureAuth: true,
          maxAllowedUnauthenticatedCommands: UNAUTHENTICATED_COMMANDS,
          disabledCommands: [
            ...DISABLED,
            ...(handlers.login === undefined ? ["AUTH"] : []),
            ...(tls === undefined ? ["STARTTLS"] : []),
          ],
          // A TLS 1.2 client that renegotiates makes the server compute again, for nothing.
          ...(tls === undefined ? {} : { ...tls, minVersion: "TLSv1.2" as const, secureOptions: NO_RENEGOTIATION }),
          size: limits.maxMessageBytes,
          rejectOversized: true,
          maxRecipients: limits.maxRecipients,
          socketTimeout: Duration.toMillis(limits.idle),
          closeTimeout: Duration.toMillis(limits.stopWithin),
          onAuth: ({ password }, session, done) =>
            handlers.login === undefined
              ? done(reply(502, "5.5.1", "Nobody logs in here"))
              : run(handlers.login(password ?? "", clientOf(session)), (error, login) =>
                  error === null ? done(null, { user: login }) : done(replied(error)),
                ),
          onMailFrom: (_, session, done) =>
            run(handlers.mail(clientOf(session), loginOf<Login>(session)), (error) => done(error && replied(error))),
          onRcptTo: ({ address }, session, done) =>
            run(handlers.recipient(address, clientOf(session)), (error) => {
              if (error === null) return done()
              const count = (refused.get(session) ?? 0) + 1
              refused.set(session, count)
              done(replied(count > MAX_REFUSED_RECIPIENTS ? GUESSING : error))
            }),
          onData: (stream, session, done) => {
            const transaction = transactionOf<Login>(session)
            intake.receive(stream, (taken) => {
              if (taken._tag === "Gone") return
              if (taken._tag === "Refused") return done(replied(taken.reply))
              run(
                Effect.ensuring(handlers.message(taken.bytes, transaction), Effect.sync(taken.release)),
                (error, words) => (error === null ? done(null, words ?? "") : done(replied(error))),
              )
            })
          },
        }),
      catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
    })
    const rules: Rules = {
      limits,
      isLocal: options.isLocal ?? isLoopback,
      hasLogin: handlers.login !== undefined,
      handshakes: Handshakes.make(),
      places: ConnectionSlots.make({
        places: limits.maxConnections,
        strangers: limits.maxStrangers,
        perNetwork: limits.maxConnectionsPerAddress,
        strangersPerNetwork: limits.maxStrangersPerAddress,
      }),
    }
    server.connect = (socket, accepted) => Connection.accept(server, rules, socket, accepted)
    server.on("error", () => {
      // A client that breaks off in the middle is no news; what it had begun was never answered with a 250.
    })
    yield* Effect.acquireRelease(start(server, options), () => stop(server))
    const address = server.server.address() as net.AddressInfo
    return address.port
  })

const start = (server: SMTPServer, { host, port }: Options) =>
  Effect.callback<void, Error>((resume) => {
    const fail = (error: Error) => resume(Effect.fail(error))
    server.server.once("error", fail)
    server.listen(port, host, () => {
      server.server.off("error", fail)
      resume(Effect.void)
    })
  })

/** New connections are refused, messages under way are answered, and idle clients are told to come back elsewhere. */
const stop = (server: SMTPServer) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const connection of server.connections) if (connection instanceof Connection) connection.dismiss()
  })

const guarded = <A, R>(effect: Effect.Effect<A, SmtpReply, R>): Effect.Effect<A, SmtpReply, R> =>
  Effect.tapCause(effect, (cause) =>
    Cause.findErrorOption(cause)._tag === "None" && !Cause.hasInterruptsOnly(cause)
      ? Effect.logError("An SMTP command failed", cause)
      : Effect.void,
  )

const refusalIn = (cause: Cause.Cause<SmtpReply>): SmtpReply => {
  const found = Cause.findErrorOption(cause)
  return found._tag === "Some" ? found.value : TROUBLE
}

/** The library reads the code off the error. */
const replied = (refusal: SmtpReply): Error => Object.assign(new Error(refusal.message), { responseCode: refusal.code })

const clientOf = ({ id, remoteAddress }: SMTPServerSession): Client => ({ id, address: remoteAddress })

const loginOf = <Login>({ user }: SMTPServerSession): Login | undefined => (user || undefined) as Login | undefined

const transactionOf = <Login>(session: SMTPServerSession): Transaction<Login> => {
  const { mailFrom, rcptTo } = session.envelope
  return {
    ...clientOf(session),
    login: loginOf<Login>(session) as Login,
    from: mailFrom === false ? "" : mailFrom.address,
    recipients: rcptTo.map(({ address }) => address),
  }
}
