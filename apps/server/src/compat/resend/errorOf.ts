import type * as ApiError from "@waybill/api/errors/ApiError"
import type { Answer } from "../Door.ts"

/** Returns an error as Resend answers it, under the name that Resend's documentation gives its cause. */
export const errorOf = (status: number, { message, reason }: ApiError.Body["error"]): Answer => {
  const known = BY_REASON[reason] ?? BY_STATUS[status] ?? INTERNAL
  return { status: known.status, body: { statusCode: known.status, name: known.name, message } }
}

interface Named {
  readonly status: number
  readonly name: string
}

const INTERNAL: Named = { status: 500, name: "internal_server_error" }

const BY_STATUS: Readonly<Record<number, Named>> = {
  400: { status: 400, name: "validation_error" },
  401: { status: 401, name: "missing_api_key" },
  403: { status: 403, name: "validation_error" },
  404: { status: 404, name: "not_found" },
  422: { status: 422, name: "validation_error" },
  429: { status: 429, name: "rate_limit_exceeded" },
  503: { status: 503, name: "application_error" },
}

const BY_REASON: Readonly<Record<string, Named>> = {
  api_key_invalid: { status: 403, name: "invalid_api_key" },
  domain_not_verified: { status: 403, name: "validation_error" },
  idempotency_key_reused: { status: 409, name: "invalid_idempotent_request" },
  missing_scope: { status: 401, name: "restricted_api_key" },
  monthly_quota: { status: 429, name: "monthly_quota_exceeded" },
}
