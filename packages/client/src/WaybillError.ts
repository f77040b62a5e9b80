/** The seven codes of the API; the finer cause is `reason`. */
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

/** What the API refused, or that it could not be reached. */
export class WaybillError extends Error {
  override readonly name = "WaybillError"
  /** `connection_failed` where no answer came; `bad_answer` where it was none of the API's. */
  readonly code: Code | "connection_failed" | "bad_answer" | "invalid_key"
  readonly reason: string | null
  /** The HTTP status, 0 without an answer. */
  readonly status: number
  /** What support needs to find the request. */
  readonly requestId: string | null
  readonly details: ReadonlyArray<Detail>
  /** Seconds to wait, on a 429. */
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
