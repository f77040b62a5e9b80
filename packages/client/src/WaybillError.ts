/** The seven codes of the API. `reason` gives the specific cause. */
export type Code =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "unprocessable"
  | "rate_limited"
  | "internal_error"

export interface Detail {
  readonly path: string
  readonly message: string
}

/** A refusal by the API, or a failure to reach it. */
export class WaybillError extends Error {
  override readonly name = "WaybillError"
  /**
   * Code of the API, or of the client: `connection_failed` if there was no response; `bad_answer` if the response was
   * not from the API; `unexpected`, in results of `safe`, for what is thrown otherwise, such as an aborted call.
   */
  readonly code: Code | "connection_failed" | "bad_answer" | "invalid_key" | "missing_package" | "unexpected"
  readonly reason: string | null
  /** Path of the page about the reason, on the instance. */
  readonly docs: string | null
  /** HTTP status; 0 without a response. */
  readonly status: number
  /** Include this id in support requests. */
  readonly requestId: string | null
  readonly details: ReadonlyArray<Detail>
  /** Seconds to wait after a 429 or 503. */
  readonly retryAfter: number | null

  constructor(fields: {
    readonly code: WaybillError["code"]
    readonly message: string
    readonly reason?: string | null
    readonly docs?: string | null
    readonly status?: number
    readonly requestId?: string | null
    readonly details?: ReadonlyArray<Detail>
    readonly retryAfter?: number | null
    readonly cause?: unknown
  }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.reason = fields.reason ?? null
    this.docs = fields.docs ?? null
    this.status = fields.status ?? 0
    this.requestId = fields.requestId ?? null
    this.details = fields.details ?? []
    this.retryAfter = fields.retryAfter ?? null
  }

  /** Returns the refusal of a field that the client checks before the request, in the form of the API's refusals. */
  static invalid(path: string, message: string, cause?: unknown): WaybillError {
    return new WaybillError({
      code: "invalid_request",
      reason: "validation_failed",
      message: `\`${path}\` ${message}.`,
      details: [{ path, message }],
      cause,
    })
  }
}
