import * as Reply from "../reply/Reply.ts"
import type * as ReplyClass from "../reply/ReplyClass.ts"
import type { WireReply } from "./ReplyLines.ts"
import * as SmtpCommands from "./SmtpCommands.ts"
import * as SmtpTransaction from "./SmtpTransaction.ts"
import type { ReplyReader } from "./SmtpWire.ts"
import { WireError } from "./WireError.ts"

/**
 * Octets passed to the socket at once, so that a dropped connection is noticed before the end of a large body is
 * written.
 */
export const BLOCK_BYTES = 64 * 1024

const DATA = "DATA\r\n"
const END = Buffer.from(".\r\n")

/** Runs one MAIL transaction. */
export const send = (
  session: SmtpTransaction.Session,
  transaction: SmtpCommands.Envelope,
  callbacks: SmtpTransaction.Callbacks,
): void => {
  const impossible = SmtpTransaction.unsupported(session, transaction)
  if (impossible === undefined) new Exchange(session, transaction, callbacks).begin()
  else callbacks.answered(transaction.to.map(() => ({ _tag: "Refused", reply: impossible })))
}

/** A transaction under way. Each reply leads to the next step at once, without a promise between them. */
class Exchange implements ReplyReader {
  readonly #session: SmtpTransaction.Session
  readonly #transaction: SmtpCommands.Envelope
  readonly #callbacks: SmtpTransaction.Callbacks
  readonly #pipelines: boolean
  readonly #answers: Array<SmtpTransaction.RecipientReply | undefined> = []
  #stage: ReplyClass.Stage = "mail"
  /** Takes the reply that is awaited, and goes on to the next step. */
  #next: (reply: WireReply) => void = this.#afterMail
  /** Number of recipients that the server has replied about, and of those that it accepted. */
  #asked = 0
  #accepted = 0
  #toSkip = 0
  /** The line that ends the data was passed to the socket. */
  #hasWrittenEnd = false
  #isOver = false

  constructor(
    session: SmtpTransaction.Session,
    transaction: SmtpCommands.Envelope,
    callbacks: SmtpTransaction.Callbacks,
  ) {
    this.#session = session
    this.#transaction = transaction
    this.#callbacks = callbacks
    this.#pipelines = session.extensions.has("PIPELINING")
  }

  begin(): void {
    try {
      const { needsReset, timeouts, wire } = this.#session
      if (!needsReset) return this.#sendEnvelope()
      wire.write("RSET\r\n")
      this.#expect(timeouts.mail_ms, this.#afterReset)
    } catch (error) {
      this.#handle(error)
    }
  }

  take(reply: WireReply): void {
    try {
      this.#next(reply)
    } catch (error) {
      this.#handle(error)
    }
  }

  fail(error: WireError): void {
    this.#session.isClosed = true
    this.#answerRest(this.#lost(error.message))
    this.#end()
  }

  #handle(error: unknown): void {
    if (error instanceof WireError) return this.fail(error)
    this.#isOver = true
    this.#callbacks.died(error)
  }

  #expect(timeout_ms: number, next: (reply: WireReply) => void): void {
    this.#next = next
    this.#session.wire.expect(timeout_ms, this)
  }

  #afterReset(reply: WireReply): void {
    if (reply.code === 421) return this.#refuseAll(reply)
    // A refusal of RSET concerns the session and the mail before: this mail goes to another server.
    if (!isPositive(reply)) throw new WireError("protocol", `${reply.code} in answer to RSET`)
    this.#session.needsReset = false
    this.#sendEnvelope()
  }

  /** With PIPELINING all commands go in one group (RFC 2920 §3.1), so a message costs two round trips instead of four. */
  #sendEnvelope(): void {
    const { timeouts, wire } = this.#session
    let commands = SmtpCommands.mail(this.#session.extensions, this.#transaction)
    if (this.#pipelines) {
      for (const address of this.#transaction.to) commands += this.#rcpt(address)
      commands += DATA
    }
    this.#session.needsReset = true
    wire.write(commands)
    this.#expect(timeouts.mail_ms, this.#afterMail)
  }

  #rcpt(address: string | undefined): string {
    return SmtpCommands.rcpt(this.#session.extensions, this.#transaction, address ?? "")
  }

  #afterMail(reply: WireReply): void {
    if (isPositive(reply)) return this.#askNext()
    this.#answerRefusal(reply)
    this.#skip(this.#pipelines ? this.#transaction.to.length + 1 : 0)
  }

  /** Waits for the reply about the next recipient, or begins the data after the last one. */
  #askNext(): void {
    this.#stage = "rcpt"
    const { timeouts, wire } = this.#session
    const { to } = this.#transaction
    if (this.#asked < to.length) {
      if (!this.#pipelines) wire.write(this.#rcpt(to[this.#asked]))
      return this.#expect(timeouts.rcpt_ms, this.#afterRcpt)
    }
    if (this.#accepted === 0) return this.#skip(this.#pipelines ? 1 : 0)
    this.#stage = "data"
    if (!this.#pipelines) wire.write(DATA)
    this.#expect(timeouts.data_ms, this.#afterData)
  }

  #afterRcpt(reply: WireReply): void {
    if (isPositive(reply)) this.#accepted++
    else if (reply.code === 421) return this.#refuseAll(reply)
    else this.#answers[this.#asked] = this.#refusal(reply)
    this.#asked++
    this.#askNext()
  }

  #afterData(reply: WireReply): void {
    if (reply.code === 354) return this.#sendBody()
    if (reply.code < 400) throw new WireError("protocol", `${reply.code} in answer to DATA`)
    this.#refuseAll(reply)
  }

  /** Sends the body, whose answer usually comes after its end, but may come in the middle. */
  #sendBody(): void {
    const { body } = this.#transaction
    this.#stage = "body"
    // A reply sent before the message is no answer to it.
    if (!this.#session.wire.isQuiet) return this.#abandon()
    if (body.bytes.length > BLOCK_BYTES) void this.#sendBlocks(body.bytes)
    else this.#sendEnd(body.bytes)
  }

  async #sendBlocks(bytes: Uint8Array): Promise<void> {
    const { timeouts, wire } = this.#session
    try {
      let at = 0
      for (; bytes.length - at > BLOCK_BYTES; at += BLOCK_BYTES) {
        wire.write(bytes.subarray(at, at + BLOCK_BYTES))
        await wire.flushed(timeouts.block_ms)
        if (wire.hasReply) return this.#abandon()
      }
      this.#sendEnd(bytes.subarray(at))
    } catch (error) {
      this.#handle(error)
    }
  }

  #sendEnd(rest: Uint8Array): void {
    const { timeouts, wire } = this.#session
    wire.together(() => {
      wire.write(rest)
      wire.write(END)
      this.#stage = "end_of_data"
      this.#hasWrittenEnd = true
      // The end of the data ends the transaction, whatever the answer is (RFC 5321 §4.1.1.4).
      this.#session.needsReset = false
      this.#expect(timeouts.end_of_data_ms, this.#afterBody)
    })
  }

  #afterBody(reply: WireReply): void {
    if (!isPositive(reply)) return this.#refuseAll(reply)
    const confirms = this.#transaction.dsn !== undefined && this.#session.extensions.has("DSN")
    this.#answerRest({ _tag: "Accepted", reply: toReply(reply, this.#stage), confirms })
    this.#finish()
  }

  /** Ends a session whose two sides no longer agree where the message ends. Acceptance of half a message does not count. */
  #abandon(): void {
    this.#session.isClosed = true
    this.#expect(0, this.#afterEarly)
  }

  #afterEarly(reply: WireReply): void {
    if (isPositive(reply)) throw new WireError("protocol", `${reply.code} before the end of the message`)
    this.#refuseAll(reply)
  }

  /**
   * Reads the replies to the rest of a refused group. A server that still wants data for a message without recipients
   * would need an empty one, and might deliver it: the session is dropped instead.
   */
  #skip(replies: number): void {
    this.#toSkip = replies
    if (replies > 0 && !this.#session.isClosed) return this.#expect(this.#session.timeouts.rcpt_ms, this.#afterSkipped)
    this.#finish()
  }

  #afterSkipped(reply: WireReply): void {
    if (reply.code === 421 || reply.code === 354) this.#session.isClosed = true
    this.#skip(this.#toSkip - 1)
  }

  #refuseAll(reply: WireReply): void {
    this.#answerRefusal(reply)
    this.#finish()
  }

  #answerRefusal(reply: WireReply): void {
    // RFC 5321 §3.8: a server that replies 421 is closing.
    if (reply.code === 421 || reply.code < 400) this.#session.isClosed = true
    this.#answerRest(this.#refusal(reply))
  }

  #refusal(reply: WireReply): SmtpTransaction.RecipientReply {
    // A code without a meaning here: the two sides are out of step.
    return reply.code >= 400
      ? { _tag: "Refused", reply: toReply(reply, this.#stage) }
      : this.#lost(`unexpected reply ${reply.code}`)
  }

  #lost(detail: string): SmtpTransaction.RecipientReply {
    return { _tag: "Lost", stage: this.#stage, detail, ambiguous: this.#hasWrittenEnd }
  }

  #answerRest(answer: SmtpTransaction.RecipientReply): void {
    for (const i of this.#transaction.to.keys()) this.#answers[i] ??= answer
  }

  #finish(): void {
    if (!this.#session.isClosed) this.#session.wire.rest()
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    // A caller that is answered may send QUIT at once.
    if (this.#session.isClosed) this.#session.wire.destroy()
    this.#callbacks.answered(this.#transaction.to.map((_, i) => this.#answers[i] ?? this.#lost("no answer")))
  }
}

const isPositive = (reply: WireReply): boolean => reply.code >= 200 && reply.code < 300

const toReply = (reply: WireReply, stage: ReplyClass.Stage): Reply.Reply =>
  Reply.parse(reply.lines.length === 1 ? (reply.lines[0] ?? "") : reply.lines.join("\n"), stage) ?? {
    code: reply.code,
    enhancedCode: undefined,
    text: "",
    stage,
  }
