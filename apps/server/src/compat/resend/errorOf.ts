import * as Table from "@waybill/domain/values/Table"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { Answer } from "../Door.ts"
import * as Native from "../Native.ts"

/** Returns an error as Resend answers it, under the name that Resend's documentation gives its cause. */
export const errorOf = (refusal: Refusal): Answer => {
  const known = byField(refusal) ?? Table.at(BY_REASON, refusal.reason) ?? BY_STATUS[refusal.status] ?? INTERNAL
  const { details = [], message: own, reason } = refusal
  const message = reason === "validation_failed" && details.length > 0 ? Native.violationsOf(refusal) : own
  return { status: known.status, body: { statusCode: known.status, name: known.name, message } }
}

interface Named {
  readonly status: number
  readonly name: string
}

/** Names the first violation. Within a batch, its path begins with the index of the email. */
const byField = ({ details: [first] = [], reason }: Refusal): Named | undefined => {
  if (reason !== "validation_failed" || first === undefined) return undefined
  const field = first.path.replace(/^\[\d+\]\.?/u, "")
  if (field === "Idempotency-Key") return { status: 400, name: "invalid_idempotency_key" }
  if (first.isMissing) return { status: 422, name: "missing_required_field" }
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
