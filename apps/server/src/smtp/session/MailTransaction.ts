import { Counted } from "./Counted.ts"
import { DotStuffed } from "./DotStuffed.ts"
import { MailEnvelope, type MailLimits, TOO_MANY_RECIPIENTS } from "./MailEnvelope.ts"
import type { Input } from "./Input.ts"
import { MessageStream } from "./MessageStream.ts"
import * as Parameters from "./Parameters.ts"
import * as Replies from "./Replies.ts"
import type { SessionHandlers, SmtpClient, Transaction } from "./SessionHandlers.ts"

/** Maximum number of refused recipients on a connection, beyond which the client is taken to guess addresses. */
export const MAX_REFUSED_RECIPIENTS = 20
/** Recipients beyond the limit of a message on a connection that count as new ones; more are commands without a message. */
const MAX_RECIPIENTS_BEYOND = 1_000

/** The session that a transaction is a part of. */
export interface TransactionContext<L> {
  readonly input: Input
  readonly limits: MailLimits
  readonly handlers: SessionHandlers<L>
  readonly client: SmtpClient
  readonly identity: () => Pick<Transaction<L>, "helo" | "login" | "tls">
  /** Sends the reply to a command that is not answered at once. */
  readonly answer: (reply: Replies.Reply) => void
  /** Called with a message that begins to come in. */
  readonly onMessage: (message: MessageStream) => void
  /** Called with a command that brings a message nearer to its end: a new recipient, or a chunk of some size. */
  readonly onProgress: () => void
  /** Called before a message is answered. */
  readonly onMessageEnd: () => void
}

/** Least size of a chunk that counts as progress of its message: a client could send each byte by itself. */
const LEAST_CHUNK_BYTES = 1024
const CHUNK = /^BDAT (\d{1,10})( LAST)?\s*$/iu

const unordered = (words: string) => Replies.of(503, "5.5.1", words)
const IN_CHUNKS = unordered("The message comes in chunks: send BDAT, or RSET to begin again")

/** The messages of a session, one after another: MAIL, RCPT, and DATA or BDAT. */
export class MailTransaction<L> {
  #envelope: MailEnvelope
  #hasKnownRecipient = false
  #refusedRecipients = 0
  #recipientsBeyond = 0
  #message: MessageStream | undefined
  readonly #context: TransactionContext<L>

  constructor(context: TransactionContext<L>) {
    this.#context = context
    this.#envelope = new MailEnvelope(context.limits)
  }

  /** The message that comes in, or is processed. When a command is read, more chunks of it are to come. */
  get message(): MessageStream | undefined {
    return this.#message
  }

  /** Whether there is a recipient that shows who the client is. */
  get hasKnownRecipient(): boolean {
    return this.#hasKnownRecipient
  }

  /** Forgets the sender, the recipients, and a message of which more chunks were to come. */
  reset(): void {
    this.#message?.destroy()
    this.#message = undefined
    this.#envelope = new MailEnvelope(this.#context.limits)
    this.#hasKnownRecipient = false
  }

  /** Ends with the connection. A message that is whole is still processed. */
  close(): void {
    if (this.#message?.isWhole === false) this.#message.destroy()
  }

  mail(line: string): Replies.Reply | undefined {
    const { answer, client, handlers, identity } = this.#context
    const sender = this.#envelope.readSender(line)
    if ("code" in sender) return sender
    handlers.mail(client, identity().login, (refusal) => {
      if (refusal === undefined) this.#envelope.sender = sender
      answer(refusal ?? Replies.of(250, "2.1.0", "Accepted"))
    })
    return undefined
  }

  recipient(line: string): Replies.Reply | undefined {
    if (this.#message !== undefined) return IN_CHUNKS
    const { answer, handlers } = this.#context
    const address = this.#envelope.readRecipient(line)
    if (typeof address !== "string") {
      // A client that sends its commands in one group learns of the limit only after it.
      if (address === TOO_MANY_RECIPIENTS && ++this.#recipientsBeyond <= MAX_RECIPIENTS_BEYOND)
        this.#context.onProgress()
      return address
    }
    handlers.recipient(address, this.#client(), (refusal) => answer(this.#accept(address, refusal)))
    return undefined
  }

  #accept(address: string, refusal: Replies.Reply | undefined): Replies.Reply {
    if (refusal !== undefined && ++this.#refusedRecipients > MAX_REFUSED_RECIPIENTS)
      return Replies.of(421, "4.7.0", "Too many recipients were refused on this connection")
    if (refusal !== undefined) return refusal
    const { client, handlers } = this.#context
    const size = this.#envelope.sender?.size
    const full = size === undefined ? undefined : handlers.refusesSize(size, client, [address])
    if (full !== undefined) return full
    if (this.#envelope.add(address)) this.#context.onProgress()
    this.#hasKnownRecipient ||= handlers.identifies(address)
    return Replies.of(250, "2.1.5", "Accepted")
  }

  data(): Replies.Reply {
    if (this.#message !== undefined) return IN_CHUNKS
    if (!this.#envelope.hasRecipients) return unordered("Error: need RCPT command")
    const message = this.#begin()
    this.#context.input.expect(new DotStuffed(message), () => message.end())
    return { code: 354, message: "End data with <CR><LF>.<CR><LF>" }
  }

  /** Takes a chunk, all of which is read even if it is refused: its lines must not be read as commands. */
  chunk(line: string): Replies.Reply | undefined {
    const [, digits, last] = CHUNK.exec(line) ?? []
    // Without its size nobody knows where the chunk ends.
    if (digits === undefined) return Replies.last(501, "5.5.4", "The form is BDAT <size> or BDAT <size> LAST")
    const size = Number(digits)
    const refusal = this.#refusesChunk(size)
    if (refusal === undefined && size >= LEAST_CHUNK_BYTES) this.#context.onProgress()
    const message = refusal === undefined ? (this.#message ?? this.#begin()) : undefined
    const end = () => {
      if (refusal !== undefined) this.reset()
      else if (last !== undefined) return message?.end()
      this.#context.answer(refusal ?? Replies.of(250, "2.0.0", `${size} bytes received`))
    }
    if (size === 0) {
      end()
      return undefined
    }
    this.#context.input.expect(new Counted(size, message), end)
    this.#context.input.next()
    return undefined
  }

  #refusesChunk(size: number): Replies.Reply | undefined {
    if (!this.#envelope.hasRecipients) return unordered("Send RCPT first")
    const { maxMessageBytes } = this.#context.limits
    const isTooLarge = (this.#message?.byteLength ?? 0) + size > maxMessageBytes
    return isTooLarge ? Replies.of(552, "5.3.4", `The message is larger than ${maxMessageBytes} bytes`) : undefined
  }

  #begin(): MessageStream {
    const { answer, handlers, identity, input, limits, onMessage, onMessageEnd } = this.#context
    const message = new MessageStream(() => input.read())
    this.#message = message
    onMessage(message)
    const { recipients, sender } = this.#envelope
    const transaction = { ...this.#client(), ...identity(), from: sender?.address ?? "", recipients }
    handlers.message(message, transaction, (reply) => {
      this.#message = undefined
      this.reset()
      onMessageEnd()
      answer(message.byteLength > limits.maxMessageBytes ? Parameters.tooLarge(limits.maxMessageBytes) : reply)
    })
    return message
  }

  /** The client, with the size of the message that it has declared. */
  #client(): SmtpClient {
    const size = this.#envelope.sender?.size
    return size === undefined ? this.#context.client : { ...this.#context.client, size }
  }
}
