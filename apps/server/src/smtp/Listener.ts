import { Availability } from "@waybill/store/availability/Availability"
import { Cause, type Context, Duration, Effect, Exit, Option, type Scope } from "effect"
import { constants } from "node:crypto"
import type * as net from "node:net"
import { SMTPServer, type SMTPServerSession } from "smtp-server"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { Connection, type Deps, isLoopback } from "./Connection.ts"
import * as Handshakes from "./Handshakes.ts"
import * as Intake from "./Intake.ts"
import type { ListenerLimits } from "./ListenerLimits.ts"
import * as ConnectionSlots from "./ConnectionSlots.ts"
import { INTERNAL_ERROR, ofRefusal, reply, type SmtpReply } from "./SmtpReply.ts"

export interface Tls {
  readonly key: string
  readonly cert: string
  /** Port of a second listener whose connections begin with TLS (RFC 8314); it shares all limits with the first one. */
  readonly port?: number
}

export interface Client {
  readonly id: string
  readonly address: string
  /** Bytes of the message, as the client has declared them by SIZE. */
  readonly size?: number
}

export interface Transaction<Login> extends Client {
  readonly login: Login
  readonly from: string
  readonly recipients: ReadonlyArray<string>
  /** Name that the client gave in EHLO. */
  readonly helo: string | null
  /** Version of TLS, such as TLSv1.3; null without it. */
  readonly tls: string | null
}

/** A refusal in its own words, or a store that cannot be used: the client is asked to try again. */
type Failure = SmtpReply | StoreUnavailable

export interface Handlers<Login, R> {
  /** `undefined` if clients do not log in. */
  readonly login: ((password: string, client: Client) => Effect.Effect<Login, Failure, R>) | undefined
  readonly mail: (client: Client, login: Login | undefined) => Effect.Effect<void, Failure, R>
  readonly recipient: (address: string, client: Client) => Effect.Effect<void, Failure, R>
  /** Whether a recipient shows who the client is: false for an address that anybody knows. */
  readonly identifies?: (address: string) => boolean
  /** Returns the text of the reply 250. */
  readonly message: (bytes: Buffer, transaction: Transaction<Login>) => Effect.Effect<string, Failure, R>
}

export interface Options {
  readonly host: string
  /** Port, or 0 to let the system choose one. */
  readonly port: number
  /** Host name in the greeting. */
  readonly name: string
  readonly limits: ListenerLimits
  readonly tls?: Tls
  /** Whether a client may log in without TLS; by default only clients on this machine. */
  readonly isLocal?: (address: string) => boolean
  /**
   * Whether messages have lines that end in CRLF only: a bare LF becomes one, a bare CR is refused. Attacks use both to
   * hide a second message in the first.
   */
  readonly strictLines: boolean
  /** Returns what to keep of a message; all of it by default. */
  readonly keep?: (transaction: Pick<Transaction<unknown>, "address" | "recipients">) => Intake.Kept
}

/** Commands that the library implements and the service does not offer. */
const DISABLED = ["XCLIENT", "XFORWARD", "WIZ", "SHELL", "KILL"]
const UNAUTHENTICATED_COMMANDS = 10
const NO_RENEGOTIATION = constants.SSL_OP_NO_RENEGOTIATION

/** Maximum number of refused recipients on a connection, beyond which the client is taken to guess addresses. */
export const MAX_REFUSED_RECIPIENTS = 20
const GUESSING = reply(421, "4.7.0", "Too many recipients were refused on this connection")

/** Listens until the scope closes, and returns the port of the listener without TLS from the start. */
export const listen = <Login, R>(
  options: Options,
  handlers: Handlers<Login, R>,
): Effect.Effect<number, Error, R | Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const { limits, tls } = options
    const run = <A>(effect: Effect.Effect<A, Failure, R>, done: (error: SmtpReply | null, value?: A) => void): void =>
      void Effect.runCallback(Effect.provideContext(logUnexpected(effect), context as Context.Context<R>), {
        onExit: (exit) => (Exit.isSuccess(exit) ? done(null, exit.value) : done(replyIn(exit.cause) ?? INTERNAL_ERROR)),
      })

    const intake = Intake.make({
      maxMessageBytes: limits.maxMessageBytes,
      strictLines: options.strictLines,
    })
    /** Refuses a recipient of a message for which there is no space now: its bytes would come in vain. */
    const fullFor = (session: SMTPServerSession, address: string): SmtpReply | undefined => {
      const client = clientOf(session)
      const recipients = [...session.envelope.rcptTo.map((each) => each.address), address]
      if (client.size === undefined) return undefined
      return intake.refuses(client.size, options.keep?.({ address: client.address, recipients }))
    }
    const refused = new WeakMap<SMTPServerSession, number>()
    const makeServer = () =>
      new SMTPServer({
        name: options.name,
        logger: false,
        disableReverseLookup: true,
        hideENHANCEDSTATUSCODES: false,
        authMethods: ["PLAIN", "LOGIN"],
        authOptional: handlers.login === undefined,
        authRequiredMessage: "5.7.0 Log in first, with an API key as the password",
        // The connection decides whether a client may log in without TLS, by its address.
        allowInsecureAuth: true,
        maxAllowedUnauthenticatedCommands: UNAUTHENTICATED_COMMANDS,
        disabledCommands: [
          ...DISABLED,
          ...(handlers.login === undefined ? ["AUTH"] : []),
          ...(tls === undefined ? ["STARTTLS"] : []),
        ],
        // Renegotiation would let a TLS 1.2 client make the server compute handshakes at will.
        ...(tls === undefined
          ? {}
          : { key: tls.key, cert: tls.cert, minVersion: "TLSv1.2" as const, secureOptions: NO_RENEGOTIATION }),
        size: limits.maxMessageBytes,
        rejectOversized: true,
        maxRecipients: limits.maxRecipients,
        socketTimeout: Duration.toMillis(limits.idle),
        closeTimeout: Duration.toMillis(limits.stopWithin),
        onAuth: ({ password }, session, done) =>
          handlers.login === undefined
            ? done(reply(502, "5.5.1", "Nobody logs in here"))
            : run(handlers.login(password ?? "", clientOf(session)), (error, login) =>
                error === null ? done(null, { user: login }) : done(errorOf(error)),
              ),
        onMailFrom: (_, session, done) =>
          run(handlers.mail(clientOf(session), loginOf<Login>(session)), (error) => done(error && errorOf(error))),
        onRcptTo: ({ address }, session, done) =>
          run(handlers.recipient(address, clientOf(session)), (error) => {
            if (error === null) {
              const full = fullFor(session, address)
              return full === undefined ? done() : done(errorOf(full))
            }
            const count = (refused.get(session) ?? 0) + 1
            refused.set(session, count)
            done(errorOf(count > MAX_REFUSED_RECIPIENTS ? GUESSING : error))
          }),
        onData: (stream, session, done) => {
          const transaction = transactionOf<Login>(session)
          const receive = (received: Intake.Received) => {
            if (received._tag === "Gone") return
            if (received._tag === "Refused") return done(errorOf(received.reply))
            run(
              Effect.ensuring(handlers.message(received.bytes, transaction), Effect.sync(received.release)),
              (error, text) => (error === null ? done(null, text ?? "") : done(errorOf(error))),
            )
          }
          intake.receive(stream, receive, options.keep?.(transaction))
        },
      })
    const deps: Omit<Deps, "hasImplicitTls"> = {
      limits,
      isLocal: options.isLocal ?? isLoopback,
      hasLogin: handlers.login !== undefined,
      identifies: handlers.identifies ?? (() => true),
      handshakes: Handshakes.make(),
      slots: ConnectionSlots.make({
        total: limits.maxConnections,
        unidentified: limits.maxUnidentified,
        perNetwork: limits.maxConnectionsPerAddress,
        unidentifiedPerNetwork: limits.maxUnidentifiedPerAddress,
      }),
    }
    const open = (port: number, hasImplicitTls: boolean) => {
      const server = makeServer()
      server.connect = (socket, accepted) => Connection.accept(server, { ...deps, hasImplicitTls }, socket, accepted)
      server.on("error", () => {
        // A client that closes its connection early is not an error: its message was not accepted.
      })
      return { server, port }
    }
    // Fails here if the certificate is not valid.
    const [plain, secure] = yield* Effect.try({
      try: () => [open(options.port, false), tls?.port === undefined ? undefined : open(tls.port, true)] as const,
      catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
    })
    const all = secure === undefined ? [plain] : [plain, secure]
    // Both stop at the same time, since each may take `stopWithin`.
    yield* Effect.addFinalizer(() =>
      Effect.forEach(all, ({ server }) => stop(server), { concurrency: "unbounded", discard: true }),
    )
    for (const { port, server } of all) yield* start(server, options.host, port)
    const address = plain.server.server.address() as net.AddressInfo
    return address.port
  })

const start = (server: SMTPServer, host: string, port: number) =>
  Effect.callback<void, Error>((resume) => {
    const fail = (error: Error) => resume(Effect.fail(error))
    server.server.once("error", fail)
    server.listen(port, host, () => {
      server.server.off("error", fail)
      resume(Effect.void)
    })
  })

/** Refuses new connections, answers messages in flight and tells idle clients to reconnect. */
const stop = (server: SMTPServer) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const connection of server.connections) if (connection instanceof Connection) connection.dismiss()
  })

const logUnexpected = <A, R>(effect: Effect.Effect<A, Failure, R>): Effect.Effect<A, Failure, R> =>
  Effect.tapCause(effect, (cause) =>
    Effect.flatMap(Availability, ({ problem }) =>
      // A database that cannot be used is logged once.
      replyIn(cause) !== undefined || Cause.hasInterruptsOnly(cause) || problem() !== undefined
        ? Effect.void
        : Effect.logError("smtp command failed; the client was asked to try again", cause),
    ),
  )

const replyIn = (cause: Cause.Cause<Failure>): SmtpReply | undefined => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (failure?._tag === "StoreUnavailable" && failure.why === "upgrading") return ofRefusal(failure)
  return failure?._tag === "SmtpReply" ? failure : undefined
}

/** Returns an error from which the library reads the code. */
const errorOf = (refusal: SmtpReply): Error => Object.assign(new Error(refusal.message), { responseCode: refusal.code })

const clientOf = ({ envelope, id, remoteAddress }: SMTPServerSession): Client => {
  const { SIZE: size } = envelope.mailFrom ? envelope.mailFrom.args || {} : {}
  return { id, address: remoteAddress, ...(typeof size === "string" ? { size: Number(size) } : {}) }
}

const loginOf = <Login>({ user }: SMTPServerSession): Login | undefined => (user || undefined) as Login | undefined

const transactionOf = <Login>(session: SMTPServerSession): Transaction<Login> => {
  const { mailFrom, rcptTo } = session.envelope
  return {
    ...clientOf(session),
    login: loginOf<Login>(session) as Login,
    from: mailFrom === false ? "" : mailFrom.address,
    recipients: rcptTo.map(({ address }) => address),
    helo: session.hostNameAppearsAs || null,
    tls: session.secure ? tlsOf(session.tlsOptions) : null,
  }
}

const tlsOf = (options: SMTPServerSession["tlsOptions"]): string =>
  typeof options === "object" && "version" in options && typeof options.version === "string" ? options.version : "TLS"
