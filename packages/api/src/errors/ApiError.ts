import * as Refusal from "@waybill/domain/values/Refusal"
import { Context, Effect, Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** Takes each refusal that an endpoint answers with, for a door of another service, which reads no English. */
export const Refused = Context.Reference<((refusal: Refusal.Refusal) => void) | undefined>(
  "@waybill/api/errors/ApiError/Refused",
  { defaultValue: () => undefined },
)

/** The id of the current request. Every error includes it; the server sets it. */
export const RequestId = Context.Reference<string>("@waybill/api/errors/ApiError/RequestId", { defaultValue: () => "" })

export const Detail = Schema.Struct({
  path: Schema.String.annotate({
    description: "The field, such as `to[3]` or `headers.X-Id`; empty for the body as a whole",
  }),
  message: Schema.String.annotate({ description: "The error, worded to continue after the field's name" }),
}).annotate({ identifier: "ErrorDetail" })

/** The body of every response that is not 2xx. */
export const Body = Schema.Struct({
  error: Schema.Struct({
    code: Schema.Literals([...new Set(Object.values(Refusal.CODES))]).annotate({
      description: "One of seven codes; tells the client how to react",
    }),
    message: Schema.String.annotate({ description: "For people; the wording may change" }),
    reason: Schema.String.annotate({ description: "The specific cause; new values may appear" }),
    docs: Schema.optionalKey(Schema.String).annotateKey({
      description: "Path of the page about this reason, at the address of the service",
    }),
    request_id: Schema.String.annotate({ description: "Also in `X-Request-Id`; include it in support requests" }),
    details: Schema.Array(Detail).annotate({
      description: "All violations, not only the first, up to 100; empty if no field is at fault",
    }),
  }),
}).annotate({ identifier: "Error" })
export type Body = typeof Body.Type

export const toBody = (refusal: Refusal.Refusal, request_id: string): Body => ({
  error: {
    code: Refusal.CODES[refusal.status],
    message: refusal.message,
    reason: refusal.reason,
    docs: `/docs/errors/${refusal.reason}`,
    request_id,
    details: (refusal.details ?? []).map(({ message, path }) => ({ path, message })),
  },
})

/** The error of a typed client. The server uses the domain's own errors instead. */
export class ApiError extends Error implements Refusal.Refusal {
  readonly _tag = "ApiError"
  override readonly name = "ApiError"
  readonly status: Refusal.Status
  readonly code: Refusal.Code
  readonly reason: string
  readonly request_id: string
  readonly details: ReadonlyArray<Refusal.Detail>
  readonly retry_after_s?: number
  constructor(status: Refusal.Status, { error }: Body, retry_after_s?: number) {
    super(error.message)
    this.status = status
    this.code = error.code
    this.reason = error.reason
    this.request_id = error.request_id
    this.details = error.details
    if (retry_after_s !== undefined) this.retry_after_s = retry_after_s
  }
}

type Of<S extends Refusal.Status> = Refusal.Refusal & { readonly status: S }

const ofStatus = <S extends Refusal.Status>(status: S) =>
  Schema.declare((u: unknown): u is Of<S> => Refusal.isRefusal(u) && u.status === status)

/**
 * Schema of all refusals with a status. It writes any domain error in the one wire format, so that none needs a class
 * or mapper here.
 */
const error = <S extends Refusal.Status>(status: S, description: string) =>
  ofStatus(status).pipe(
    Schema.encodeTo(
      Body,
      SchemaTransformation.transformEffect<Of<S>, Body>({
        decode: (body) => Effect.succeed(new ApiError(status, body) as ApiError & Of<S>),
        encode: (refusal) =>
          Effect.flatMap(Refused, (take) => {
            take?.(refusal)
            return Effect.map(RequestId, (id) => toBody(refusal, id))
          }),
      }),
    ),
    Schema.annotate({ description }),
    HttpApiSchema.status(status),
  )

export const BadRequest = error(
  400,
  "The request is invalid; `details` lists every violation. A retry fails the same way.",
)
export const Unauthorized = error(
  401,
  "The API key is missing, unknown, expired, revoked or not allowed from this address.",
)
export const Forbidden = error(
  403,
  "The API key lacks a scope, named in `details`, is limited to another domain, or has the other mode.",
)
export const NotFound = error(404, "No such resource in this account, or no such route.")
export const Unprocessable = error(
  422,
  "The request is valid, but the state of the account does not allow it; `reason` gives the cause.",
)
export const Internal = error(
  500,
  "Internal error. The cause is logged under `request_id`. The reason `outcome_unknown` means that the database did not confirm the request in time: it may have been accepted, so repeat it with the same `Idempotency-Key`.",
)

/** Like `error`, with a `Retry-After` header. */
const errorWithRetryAfter = <S extends 429 | 503>(status: S, description: string) =>
  ofStatus(status).pipe(
    HttpApiSchema.encodeToWithHeaders(
      {
        body: error(status, description),
        headers: { "retry-after": Schema.Int.annotate({ description: "Seconds to wait" }) },
      },
      {
        encode: (refusal) => ({ body: refusal, headers: { "retry-after": refusal.retry_after_s ?? 1 } }),
        decode: ({ body, headers }) =>
          body instanceof ApiError
            ? (new ApiError(status, toBody(body, body.request_id), headers["retry-after"]) as ApiError & Of<S>)
            : body,
      },
    ),
  )

export const RateLimited = errorWithRetryAfter(
  429,
  "The rate limit or the monthly quota is exhausted; wait for `Retry-After`, then back off exponentially.",
)
export const Unavailable = errorWithRetryAfter(
  503,
  "Memory or connections are exhausted, or the database cannot be used. Nothing was accepted; send the same request again after `Retry-After`.",
)
