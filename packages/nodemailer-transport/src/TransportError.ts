export interface FieldProblem {
  /** The field in nodemailer's spelling, such as `replyTo` or `attachments[0].contentType`. */
  readonly path: string
  readonly message: string
}

/** Codes of nodemailer's own transports. */
export type Code = "EAUTH" | "ENOAUTH" | "EENVELOPE" | "EMESSAGE" | "ECONNECTION" | "EDNS" | "ETIMEDOUT" | "EABORT"

/** Fields of an error besides its message. */
export interface Fields {
  readonly code: Code
  readonly responseCode?: number
  readonly status?: number
  readonly reason?: string
  readonly requestId?: string
  readonly problems?: ReadonlyArray<FieldProblem>
  readonly rejected?: ReadonlyArray<string>
  readonly cause?: unknown
}

/**
 * A message that was not accepted. `code`, `responseCode` and `response` mean what they mean for nodemailer's SMTP
 * transport, so a `responseCode` of 500 or more says that a repetition fails the same way.
 */
export class TransportError extends Error {
  override readonly name = "TransportError"
  readonly code: Code
  readonly command = "API"
  /** Code with which Waybill refuses the same message over SMTP; absent if there was no answer. */
  readonly responseCode: number | undefined
  readonly response: string | undefined
  /** HTTP status of the answer. */
  readonly status: number | undefined
  /** The specific cause, such as `domain_not_verified`. */
  readonly reason: string | undefined
  /** Include this id in support requests. */
  readonly requestId: string | undefined
  readonly problems: ReadonlyArray<FieldProblem>
  /** Recipients that were refused. */
  readonly rejected: ReadonlyArray<string>

  constructor(message: string, fields: Fields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.responseCode = fields.responseCode
    const reason = fields.reason === undefined ? "" : `${fields.reason}: `
    this.response = fields.responseCode === undefined ? undefined : `${fields.responseCode} ${reason}${message}`
    this.status = fields.status
    this.reason = fields.reason
    this.requestId = fields.requestId
    this.problems = fields.problems ?? []
    this.rejected = fields.rejected ?? []
  }
}

/** Fields of a message that decide from whom and to whom it is sent. */
const ENVELOPE = /^(?:from|sender|to|cc|bcc|envelope)\b/

/** Returns the error for fields that cannot be sent. */
export const fromProblems = (problems: ReadonlyArray<FieldProblem>, answer: Partial<Fields> = {}): TransportError => {
  const [first] = problems
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more, see problems)` : ""
  const subject = first === undefined || first.path === "" ? "The message" : `\`${first.path}\``
  return new TransportError(`${subject} ${first?.message ?? "is not valid"}${more}.`, {
    code: first !== undefined && ENVELOPE.test(first.path) ? "EENVELOPE" : "EMESSAGE",
    ...answer,
    problems,
  })
}
