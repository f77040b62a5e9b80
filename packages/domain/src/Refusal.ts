import { Schema } from "effect"

/** The seven codes of the specification; every refusal is one of them, its finer cause is the `reason`. */
export type Code =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "unprocessable"
  | "rate_limited"
  | "internal_error"

export type Status = 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503

export interface Detail {
  readonly path: string
  readonly message: string
}

/**
 * What every error class of the domain looks like from outside, so that the API renders all of them with one function.
 * `retry_after_s` is what a 429 or a 503 puts into `Retry-After`.
 */
export interface Refusal {
  readonly _tag: string
  readonly status: Status
  readonly code: Code
  readonly reason: string
  readonly message: string
  readonly details?: ReadonlyArray<Detail>
  readonly retry_after_s?: number
}

export const CODES: { readonly [S in Status]: Code } = {
  400: "invalid_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  422: "unprocessable",
  429: "rate_limited",
  500: "internal_error",
  503: "internal_error",
}

export const isRefusal = (error: unknown): error is Refusal =>
  typeof error === "object" &&
  error !== null &&
  "_tag" in error &&
  "status" in error &&
  "reason" in error &&
  "code" in error &&
  CODES[error.status as Status] === error.code

/** A fact that the history already holds. Whoever brought it has nothing to mend, so it is never shown to a client. */
export class NothingNew extends Schema.TaggedError<NothingNew>()("NothingNew", {}) {
  readonly status = 422
  readonly code = "unprocessable"
  readonly reason = "nothing_new"
  override get message() {
    return "The history already says so."
  }
}
