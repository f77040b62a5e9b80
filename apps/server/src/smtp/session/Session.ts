import type { MailLimits } from "./MailEnvelope.ts"
import { Input } from "./Input.ts"
import * as Login from "./Login.ts"
import { MailTransaction } from "./MailTransaction.ts"
import type { MessageStream } from "./MessageStream.ts"
import * as Replies from "./Replies.ts"
import type { SessionHandlers, SmtpClient } from "./SessionHandlers.ts"
import type { Wire } from "./Wire.ts"

/** Number of commands that are not known, or come without a login, at which a connection is closed. */
const MAX_UNKNOWN_COMMANDS = 10
const MAX_COMMANDS_WITHOUT_LOGIN = 10
/**
 * Maximum number of commands since the last message, without new recipients and chunks. A client that sends mail needs few
 * of them, and each takes time of other connections.
 */
export const MAX_COMMANDS_WITHOUT_MESSAGE = 100
/** Maximum number of logins that are tried on a connection before it is closed. A client with a key needs one. */
export const MAX_LOGIN_ATTEMPTS = 3
/** Maximum length of the name in EHLO. RFC 5321 §4.5.3.1.2 allows 255 octets for a domain. */
const MAX_NAME_CHARS = 300

export interface SessionOptions extends MailLimits {
  /** Host name in the greeting. */
  readonly name: string
  readonly offersTls: boolean
  /** Whether a client may log in as things are: not if others could read its key. */
  readonly mayLogIn: () => boolean
  readonly isStopping: () => boolean
  /** Begins TLS, after which the session is told to restart. */
  readonly startTls: () => void
  /** Called with a message that begins to come in. */
  readonly onMessage: (message: MessageStream) => void
}

const KNOWN = new Set("EHLO HELO MAIL RCPT DATA BDAT RSET NOOP HELP VRFY QUIT".split(" "))
const NEEDS_LOGIN = new Set(["MAIL", "RCPT", "DATA"])
/** Web pages can make a browser send a request to any port. */
const HTTP_REQUEST = /^(?:OPTIONS|GET|HEAD|POST|PUT|DELETE|TRACE|CONNECT) \/.* HTTP\/\d\.\d$/iu
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f-\x9f]/u

const closing = (words: string) => Replies.of(421, "4.4.2", words)
const unordered = (words: string) => Replies.of(503, "5.5.1", words)

/** The dialogue with a client (RFC 5321). A command returns its reply, or `undefined` if it is answered later. */
export class Session<L> {
  readonly input: Input
  #helo: string | undefined
  #login: L | undefined
  /** Continues a login with the next line. */
  #nextOfLogin: ((line: string) => Login.Step) | undefined
  #unknownCommands = 0
  #commandsWithoutLogin = 0
  #commandsWithoutMessage = 0
  #loginAttempts = 0
  readonly #client: SmtpClient
  readonly #transaction: MailTransaction<L>
  readonly #wire: Wire
  readonly #options: SessionOptions
  readonly #handlers: SessionHandlers<L>
  readonly #next = () => {
    this.input.next()
    // A client whose command was answered during the stop would hold it up by its silence.
    const isIdle = !this.input.isPending && this.message === undefined && !this.#wire.isClosing
    if (isIdle && this.#options.isStopping()) this.#answer(closing("Server shutting down"))
  }

  constructor(id: string, wire: Wire, options: SessionOptions, handlers: SessionHandlers<L>) {
    this.#client = { id, address: wire.address }
    this.#wire = wire
    this.#options = options
    this.#handlers = handlers
    this.input = new Input({
      onLine: (line) => this.#read(line),
      onTooLong: () => this.#answer(closing("Error: Command line too long")),
      onDefect: (cause) => {
        handlers.onDefect(cause)
        this.#answer(Replies.of(421, "4.3.0", "Error: internal server error"))
      },
      pause: () => wire.pause(),
      resume: () => wire.resume(),
    })
    this.#transaction = new MailTransaction({
      input: this.input,
      limits: options,
      handlers,
      client: this.#client,
      identity: () => ({ login: this.#login as L, helo: this.#helo ?? null, tls: wire.tls }),
      answer: (reply) => this.#answer(reply),
      onMessage: options.onMessage,
      onProgress: () => void this.#commandsWithoutMessage--,
      onMessageEnd: () => {
        this.#unknownCommands = 0
        this.#commandsWithoutMessage = 0
      },
    })
  }

  /** The message that comes in, or is processed. */
  get message(): MessageStream | undefined {
    return this.#transaction.message
  }

  /** Whether the client is known: by its login, or by a recipient address that only this instance can have made. */
  get isIdentified(): boolean {
    return this.#options.hasLogin ? this.#login !== undefined : this.#transaction.hasKnownRecipient
  }

  greet(): void {
    this.#wire.send({ code: 220, message: `${this.#options.name} ESMTP` })
  }

  /** Begins anew inside TLS, and forgets what came before (RFC 3207 §4.2). */
  restart(): void {
    this.#login = undefined
    this.#helo = undefined
    this.#transaction.reset()
  }

  /** Ends without a reply. A message that is whole is still processed. */
  close(): void {
    this.input.close()
    this.#transaction.close()
  }

  #read(line: string): void {
    const reply = this.#replyTo(line)
    if (reply !== undefined) this.#answer(reply)
  }

  #answer(reply: Replies.Reply): void {
    this.#wire.send(reply)
    if (reply.isLast !== true && reply.code !== 421) return this.#wire.whenSent(this.#next)
    this.input.close()
    this.#wire.close()
  }

  #replyTo(line: string): Replies.Reply | undefined {
    if (this.#options.isStopping()) return closing("Server shutting down")
    if (++this.#commandsWithoutMessage > MAX_COMMANDS_WITHOUT_MESSAGE)
      return closing("Error: too many commands without a message")
    if (HTTP_REQUEST.test(line)) return closing("HTTP requests not allowed")
    const next = this.#nextOfLogin
    const verb = line.split(" ", 1)[0]?.toUpperCase() ?? ""
    if (next === undefined && !this.#knows(verb))
      return ++this.#unknownCommands < MAX_UNKNOWN_COMMANDS
        ? Replies.of(500, "5.5.2", "Error: command not recognized")
        : closing("Error: too many unrecognized commands")
    const lacksLogin = this.#options.hasLogin && this.#login === undefined
    if (lacksLogin && verb !== "AUTH" && ++this.#commandsWithoutLogin >= MAX_COMMANDS_WITHOUT_LOGIN)
      return closing("Error: too many unauthenticated commands")
    if (next !== undefined) {
      this.#nextOfLogin = undefined
      return this.#logIn(next(line))
    }
    if (this.#helo === undefined && (verb === "AUTH" || NEEDS_LOGIN.has(verb)))
      return unordered("Error: send HELO/EHLO first")
    if (lacksLogin && NEEDS_LOGIN.has(verb))
      return Replies.of(530, "5.7.0", "Log in first, with an API key as the password")
    return this.#run(verb, line)
  }

  #knows(verb: string): boolean {
    if (verb === "AUTH") return this.#options.hasLogin
    return verb === "STARTTLS" ? this.#options.offersTls : KNOWN.has(verb)
  }

  #run(verb: string, line: string): Replies.Reply | undefined {
    switch (verb) {
      case "EHLO":
      case "HELO":
        return this.#hello(verb, line)
      case "STARTTLS":
        return this.#startTls(line)
      case "AUTH":
        return this.#authenticate(line)
      case "MAIL":
        return this.#transaction.mail(line)
      case "RCPT":
        return this.#transaction.recipient(line)
      case "DATA":
        return this.#transaction.data()
      case "BDAT":
        return this.#transaction.chunk(line)
      case "RSET":
        this.#transaction.reset()
        return Replies.of(250, "2.0.0", "Flushed")
      case "NOOP":
        return Replies.of(250, "2.0.0", "OK")
      case "HELP":
        return Replies.of(214, "2.0.0", "See https://tools.ietf.org/html/rfc5321 for details")
      case "VRFY":
        return line.trim().includes(" ")
          ? Replies.of(252, "2.1.5", "Try to send something. No promises though")
          : Replies.of(501, "5.5.4", "Error: Syntax: VRFY address")
      default:
        return Replies.last(221, "2.0.0", "Bye")
    }
  }

  #hello(verb: string, line: string): Replies.Reply {
    const [, name = "", ...more] = line.trim().split(/\s+/u)
    // RFC 2034 §4: replies to these commands have no enhanced code.
    if (name === "" || more.length > 0) return { code: 501, message: `Error: syntax: ${verb} hostname` }
    if (name.length > MAX_NAME_CHARS || CONTROL.test(name)) return { code: 501, message: "Error: Bad hostname syntax" }
    this.#helo = name.toLowerCase()
    this.#transaction.reset()
    const greeting = `${this.#options.name} Nice to meet you, [${this.#wire.address}]`
    return { code: 250, message: verb === "HELO" ? greeting : [greeting, ...this.#extensions()].join("\n") }
  }

  #extensions(): ReadonlyArray<string> {
    const { hasLogin, maxMessageBytes, mayLogIn, offersTls } = this.#options
    return [
      "CHUNKING",
      "PIPELINING",
      "8BITMIME",
      "SMTPUTF8",
      "ENHANCEDSTATUSCODES",
      // Not offered where it would be refused, so that no client sends its key in the clear.
      ...(hasLogin && this.#login === undefined && mayLogIn() ? [`AUTH ${Login.MECHANISMS.join(" ")}`] : []),
      ...(offersTls && this.#wire.tls === null ? ["STARTTLS"] : []),
      `SIZE ${maxMessageBytes}`,
    ]
  }

  #startTls(line: string): Replies.Reply | undefined {
    if (line.trim().includes(" ")) return Replies.of(501, "5.5.4", "Error: syntax: STARTTLS")
    if (this.#wire.tls !== null) return unordered("Error: TLS already active")
    this.#options.startTls()
    return undefined
  }

  #authenticate(line: string): Replies.Reply | undefined {
    const { mayLogIn, offersTls } = this.#options
    if (!mayLogIn()) {
      const how = offersTls ? "Issue STARTTLS first" : "This server has no certificate for STARTTLS"
      return Replies.of(538, "5.7.11", `A key is not taken in the clear from another machine. ${how}`)
    }
    if (++this.#loginAttempts > MAX_LOGIN_ATTEMPTS)
      return Replies.of(421, "4.7.0", "Too many failed logins on this connection")
    if (this.#login !== undefined) return unordered("Error: No identity changes permitted")
    return this.#logIn(Login.begin(line))
  }

  #logIn(step: Login.Step): Replies.Reply | undefined {
    if (step._tag === "End") return step.reply
    if (step._tag === "Question") {
      this.#nextOfLogin = step.next
      return step.reply
    }
    this.#handlers.login?.(step.password, this.#client, (answer) => {
      if ("code" in answer) return this.#answer(answer)
      this.#login = answer.login
      this.#answer(Replies.of(235, "2.7.0", "Authentication successful"))
    })
    return undefined
  }
}
