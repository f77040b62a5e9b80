import { type Cause, Data } from "effect"

/** The seven error codes of the specification. `reason` gives the specific cause. */
export type Code =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "unprocessable"
  | "rate_limited"
  | "internal_error"

export type Status = 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503

/** A violation. Answers have its path and message; doors of other services are told the rest in types. */
export interface Detail {
  readonly path: string
  readonly message: string
  /** Whether a field is required and was not given. */
  readonly isMissing?: boolean
  /** The violation in other words, which do not continue after the field's name. */
  readonly sentence?: string
  /** Where it is in the source of a template, with its message as it is without the place. */
  readonly place?: { readonly line: number; readonly column: number; readonly message: string }
}

/**
 * The public shape of every domain error, so that the API renders all of them with one function. `retry_after_s`
 * becomes the `Retry-After` header of a 429 or 503, and `allowed_methods` the `Allow` header of a 404.
 */
export interface Refusal {
  readonly _tag: string
  readonly status: Status
  readonly reason: string
  readonly message: string
  readonly details?: ReadonlyArray<Detail>
  readonly retry_after_s?: number | undefined
  readonly allowed_methods?: ReadonlyArray<string>
}

/** The code of each status; a refusal has only its status. */
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
  (error.status as number) in CODES &&
  "reason" in error &&
  typeof error.reason === "string"

interface Base<Tag extends string, S extends Status, Reason extends string> {
  new <A extends object = {}>(
    ...fields: {} extends A ? [fields?: A] : [fields: A]
  ): Cause.YieldableError & { readonly _tag: Tag; readonly status: S; readonly reason: Reason } & Readonly<A>
}

/** Makes the base of a refusal's class, which says the message, and the details if it has any. */
export const of = <Tag extends string, S extends Status, Reason extends string>(
  tag: Tag,
  status: S,
  reason: Reason,
): Base<Tag, S, Reason> =>
  // The constructor assigns the fields, which only the type names.
  class extends Data.TaggedError(tag) {
    readonly status = status
    readonly reason = reason
  } as never

/** The history already contains this fact. Never shown to a client. */
export class NothingNew extends of("NothingNew", 422, "nothing_new") {
  override readonly message = "Nothing changes: the history already contains this."
}
