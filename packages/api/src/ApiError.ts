import * as Refusal from "@waybill/domain/Refusal"
import { Context, Effect, Schema, SchemaTransformation } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** The id of the request under way, which every error names. The edge sets it; a client has none to set. */
export const RequestId = Context.Reference<string>("@waybill/api/RequestId", { defaultValue: () => "" })

export const Detail = Schema.Struct({
  path: Schema.String.annotate({
    description: "The field, as in `to[3]` or `headers.X-Id`; empty for the body itself",
  }),
  message: Schema.String.annotate({ description: "What is wrong, worded to follow the name of the field" }),
}).annotate({ identifier: "ErrorDetail" })

/** One shape for every answer that is not 2xx (contract §2). */
export const Body = Schema.Struct({
  error: Schema.Struct({
    code: Schema.Literals([...new Set(Object.values(Refusal.CODES))]).annotate({
      description: "Says what to do; one of seven",
    }),
    message: Schema.String.annotate({ description: "For people; its words may change" }),
    reason: Schema.String.annotate({ description: "The finer cause; new ones may appear" }),
    request_id: Schema.String.annotate({ description: "Also in `X-Request-Id`; name it when asking for help" }),
    details: Schema.Array(Detail).annotate({
      description: "All violations, not only the first; empty where there is no field to name",
    }),
  }),
}).annotate({ identifier: "Error" })
export type Body = typeof Body.Type

export const toBody = (refusal: Refusal.Refusal, request_id: string): Body => ({
  error: {
    code: refusal.code,
    message: refusal.message,
    reason: refusal.reason,
    request_id,
    details: refusal.details ?? [],
  },
})

/** What a typed client catches. On the server the domain's own errors take its place. */
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

/** Any refusal of a status, on the wire in the one shape: the domain's errors need no class or mapper here. */
const error = <S extends Refusal.Status>(status: S, description: string) =>
  ofStatus(status).pipe(
    Schema.encodeTo(
      Body,
      SchemaTransformation.transformEffect<Of<S>, Body>({
        decode: (body) => Effect.succeed(new ApiError(status, body) as ApiError & Of<S>),
        encode: (refusal) => Effect.map(RequestId, (id) => toBody(refusal, id)),
      }),
    ),
    Schema.annotate({ description }),
    HttpApiSchema.status(status),
  )

export const BadRequest = error(
  400,
  "The request itself is wrong; `details` lists every violation. Sending it again changes nothing.",
)
export const Unauthorized = error(
  401,
  "No API key, or one that is unknown, expired, revoked or not allowed from this address.",
)
export const Forbidden = error(
  403,
  "The API key lacks a scope, which `details` names, or is limited to another domain.",
)
export const NotFound = error(404, "No such resource in this account, or no such route.")
export const Unprocessable = error(
  422,
  "The request is well-formed, but the state of the account does not let it through; `reason` says which.",
)
export const Internal = error(500, "Our fault. The cause is logged under `request_id`.")

/** A refusal of a status, with the header that says when to come again. */
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
  "A window or the monthly volume is used up; wait as long as `Retry-After` says, then back off exponentially.",
)
export const Unavailable = errorWithRetryAfter(
  503,
  "A budget of memory or connections is used up. Nothing was accepted; send the same request again after `Retry-After`.",
)
