import { Availability } from "@waybill/store/availability/Availability"
import { Cause, type Context, Effect, Exit, Option, type Scope } from "effect"
import { constants } from "node:crypto"
import * as tls from "node:tls"
import type { StoreUnavailable } from "@waybill/store/postgres/StoreUnavailable"
import { type Deps, isLoopback } from "./Connection.ts"
import * as ConnectionSlots from "./ConnectionSlots.ts"
import * as Handshakes from "./Handshakes.ts"
import * as Intake from "./Intake.ts"
import type { ListenerLimits } from "./ListenerLimits.ts"
import { ListeningPort } from "./ListeningPort.ts"
import type { Reply } from "./session/Replies.ts"
import type { SessionHandlers, SmtpClient, Transaction } from "./session/SessionHandlers.ts"
import { INTERNAL_ERROR, ofRefusal, type SmtpReply } from "./SmtpReply.ts"

export interface Tls {
  readonly key: string
  readonly cert: string
  /** Port of a second listener whose connections begin with TLS (RFC 8314); it shares all limits with the first one. */
  readonly port?: number
}

/** A refusal in its own words, or a store that cannot be used: the client is asked to try again. */
type Failure = SmtpReply | StoreUnavailable

export interface Handlers<Login, R> {
  /** `undefined` if clients do not log in. */
  readonly login: ((password: string, client: SmtpClient) => Effect.Effect<Login, Failure, R>) | undefined
  readonly mail: (client: SmtpClient, login: Login | undefined) => Effect.Effect<void, Failure, R>
  readonly recipient: (address: string, client: SmtpClient) => Effect.Effect<void, Failure, R>
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

// Renegotiation would let a TLS 1.2 client make the server compute handshakes at will.
const NO_RENEGOTIATION = constants.SSL_OP_NO_RENEGOTIATION

/** Listens until the scope closes, and returns the port of the listener without TLS from the start. */
export const listen = <Login, R>(
  options: Options,
  handlers: Handlers<Login, R>,
): Effect.Effect<number, Error, R | Availability | Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R | Availability>()
    const { limits } = options
    const deps: Deps<Login> = {
      name: options.name,
      limits,
      isLocal: options.isLocal ?? isLoopback,
      secureContext: options.tls && (yield* secureContextOf(options.tls)),
      handlers: sessionHandlers(options, handlers, context),
      handshakes: Handshakes.make(),
      slots: ConnectionSlots.make({
        total: limits.maxConnections,
        unidentified: limits.maxUnidentified,
        perNetwork: limits.maxConnectionsPerAddress,
        unidentifiedPerNetwork: limits.maxUnidentifiedPerAddress,
      }),
    }
    const plain = new ListeningPort(deps, false)
    const secure = options.tls?.port === undefined ? undefined : new ListeningPort(deps, true)
    // Both stop at the same time, since each may take `stopWithin`.
    yield* Effect.addFinalizer(() =>
      Effect.all([plain.stop, secure?.stop ?? Effect.void], { concurrency: "unbounded", discard: true }),
    )
    const port = yield* plain.listen(options.host, options.port)
    if (secure !== undefined) yield* secure.listen(options.host, options.tls?.port ?? 0)
    return port
  })

/** Fails if the certificate is not valid. */
const secureContextOf = ({ cert, key }: Tls): Effect.Effect<tls.SecureContext, Error> =>
  Effect.try({
    try: () =>
      tls.createSecureContext({
        key,
        cert,
        minVersion: "TLSv1.2",
        honorCipherOrder: true,
        secureOptions: NO_RENEGOTIATION,
      }),
    catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))),
  })

const sessionHandlers = <Login, R>(
  { keep, limits, strictLines }: Options,
  handlers: Handlers<Login, R>,
  context: Context.Context<R | Availability>,
): SessionHandlers<Login> => {
  const intake = Intake.make({ maxMessageBytes: limits.maxMessageBytes, strictLines })
  const run = <A>(effect: Effect.Effect<A, Failure, R>, done: (refusal: Reply | undefined, value?: A) => void): void =>
    void Effect.runCallback(Effect.provideContext(logUnexpected(effect), context), {
      onExit: (exit) =>
        Exit.isSuccess(exit) ? done(undefined, exit.value) : done(replyIn(exit.cause) ?? INTERNAL_ERROR),
    })
  const { login, mail, recipient } = handlers
  return {
    login:
      login &&
      ((password, client, done) =>
        run(login(password, client), (refusal, login) => done(refusal ?? { login: login as Login }))),
    mail: (client, login, done) => run(mail(client, login), done),
    recipient: (address, client, done) => run(recipient(address, client), done),
    identifies: handlers.identifies ?? (() => true),
    refusesSize: (size, { address }, recipients) => intake.refuses(size, keep?.({ address, recipients })),
    message: (message, transaction, done) => {
      const receive = (received: Intake.Received) => {
        if (received._tag === "Gone") return
        if (received._tag === "Refused") return done(received.reply)
        const answered = Effect.ensuring(handlers.message(received.bytes, transaction), Effect.sync(received.release))
        run(answered, (refusal, text = "") => done(refusal ?? { code: 250, message: text }))
      }
      intake.receive(message, receive, keep?.(transaction))
    },
    onDefect: (cause) => run(Effect.die(cause), () => undefined),
  }
}

const logUnexpected = <A, R>(effect: Effect.Effect<A, Failure, R>): Effect.Effect<A, Failure, R | Availability> =>
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
