import * as Parameters from "./Parameters.ts"
import * as Path from "./Path.ts"
import * as Replies from "./Replies.ts"

/** Parameters of MAIL that are offered to all clients. RCPT has none. */
const MAIL_PARAMETERS = ["SIZE", "BODY", "SMTPUTF8"]
/**
 * Parameters for clients that log in. Those of DSN (RFC 3461) have no effect, and DSN is not offered: no reports are sent
 * to submitters. Many programs send them anyway.
 */
const SUBMISSION_PARAMETERS = { mail: [...MAIL_PARAMETERS, "AUTH", "RET", "ENVID"], rcpt: ["NOTIFY", "ORCPT"] }

export const TOO_MANY_RECIPIENTS = Replies.of(452, "4.5.3", "Error: too many recipients")

export interface MailLimits {
  readonly maxMessageBytes: number
  readonly maxRecipients: number
  /** Whether clients log in. */
  readonly hasLogin: boolean
}

export interface MailSender {
  readonly address: string
  /** Bytes of the message, if the client has declared them. */
  readonly size: number | undefined
}

/** The sender and the recipients of a message. */
export class MailEnvelope {
  sender: MailSender | undefined
  /** Recipients by their addresses in lower case: one that is given again replaces the earlier one. */
  readonly #recipients = new Map<string, string>()
  readonly #limits: MailLimits

  constructor(limits: MailLimits) {
    this.#limits = limits
  }

  get recipients(): ReadonlyArray<string> {
    return [...this.#recipients.values()]
  }

  get hasRecipients(): boolean {
    return this.#recipients.size > 0
  }

  /** Adds a recipient; returns whether it is a new one. */
  add(recipient: string): boolean {
    const before = this.#recipients.size
    return this.#recipients.set(recipient.toLowerCase(), recipient).size > before
  }

  /** Reads a MAIL command. */
  readSender(line: string): MailSender | Replies.Reply {
    const path = Path.parse("MAIL FROM", line)
    if (path === undefined) return Replies.of(501, "5.1.7", "Error: Bad sender address syntax")
    const { hasLogin, maxMessageBytes } = this.#limits
    const refusal = Parameters.check("MAIL", path.parameters, hasLogin ? SUBMISSION_PARAMETERS.mail : MAIL_PARAMETERS)
    if (refusal !== undefined) return refusal
    if (this.sender !== undefined) return Replies.of(503, "5.5.1", "Error: nested MAIL command")
    const size = Parameters.readMail(path.parameters, maxMessageBytes)
    return typeof size === "object" ? size : { address: path.address, size }
  }

  /** Reads an RCPT command. */
  readRecipient(line: string): string | Replies.Reply {
    const path = Path.parse("RCPT TO", line)
    if (path === undefined || path.address === "")
      return Replies.of(501, "5.1.3", "Error: Bad recipient address syntax")
    const { hasLogin, maxRecipients } = this.#limits
    const refusal = Parameters.check("RCPT", path.parameters, hasLogin ? SUBMISSION_PARAMETERS.rcpt : [])
    if (refusal !== undefined) return refusal
    if (this.sender === undefined) return Replies.of(503, "5.5.1", "Error: need MAIL command")
    if (this.#recipients.size >= maxRecipients && !this.#recipients.has(path.address.toLowerCase()))
      return TOO_MANY_RECIPIENTS
    return path.address
  }
}
