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
  /** `connection_failed` if there was no response; `bad_answer` if the response was not from the API. */
  readonly code: Code | "connection_failed" | "bad_answer" | "invalid_key"
  readonly reason: string | null
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
    readonly status?: number
    readonly requestId?: string | null
    readonly details?: ReadonlyArray<Detail>
    readonly retryAfter?: number | null
    readonly cause?: unknown
  }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = fields.code
    this.reason = fields.reason ?? null
    this.status = fields.status ?? 0
    this.requestId = fields.requestId ?? null
    this.details = fields.details ?? []
    this.retryAfter = fields.retryAfter ?? null
  }
}
