import * as Table from "@waybill/domain/values/Table"
import type * as ApiError from "@waybill/api/errors/ApiError"
import type { Answer } from "../Door.ts"
import * as Native from "../Native.ts"

/** Maximum number of violations that a message lists, because Resend's errors have no other place for them. */
const MAX_SHOWN = 20

/** Returns an error as Resend answers it, under the name that Resend's documentation gives its cause. */
export const errorOf = (status: number, error: ApiError.Body["error"]): Answer => {
  const known = byField(error) ?? Table.at(BY_REASON, error.reason) ?? BY_STATUS[status] ?? INTERNAL
  return { status: known.status, body: { statusCode: known.status, name: known.name, message: messageOf(error) } }
}

const messageOf = (error: ApiError.Body["error"]): string => {
  const { details, message, reason } = error
  if (reason !== "validation_failed" || details.length === 0) return message
  const shown = details
    .slice(0, MAX_SHOWN)
    .map(({ message, path }) => (path === "" ? `The body ${message}` : `\`${path}\` ${message}`))
  const more = Native.violationsBeyond(MAX_SHOWN, error)
  return `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`
}

interface Named {
  readonly status: number
  readonly name: string
}

/** Names the first violation. Within a batch, its path begins with the index of the email. */
const byField = ({ details: [first], reason }: ApiError.Body["error"]): Named | undefined => {
  if (reason !== "validation_failed" || first === undefined) return undefined
  const field = first.path.replace(/^\[\d+\]\.?/u, "")
  if (field === "Idempotency-Key") return { status: 400, name: "invalid_idempotency_key" }
  if (first.message === "is required") return { status: 422, name: "missing_required_field" }
  if (field.startsWith("attachments")) return { status: 422, name: "invalid_attachment" }
  return field === "from" ? { status: 422, name: "invalid_from_address" } : undefined
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
