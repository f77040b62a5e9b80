import type { Webhook } from "../api/Records.ts"

type Format = Webhook["format"]

/** Formats of the calls, with their names. */
export const NAMES: ReadonlyArray<readonly [format: Format, name: string]> = [
  ["waybill", "Waybill"],
  ["resend", "Resend"],
  ["postmark", "Postmark"],
  ["sendgrid", "SendGrid"],
]

export const nameOf = (format: Format): string => NAMES.find(([each]) => each === format)?.[1] ?? format

const POSTMARK: ReadonlyArray<string> = [
  "email.delivered",
  "email.bounced",
  "email.failed",
  "email.complained",
  "email.opened",
  "email.clicked",
  "email.received",
  "suppression.added",
  "suppression.removed",
]

const SENDGRID: ReadonlyArray<string> = [
  "email.queued",
  "email.delivered",
  "email.delivery_delayed",
  "email.bounced",
  "email.failed",
  "email.suppressed",
  "email.complained",
  "email.opened",
  "email.clicked",
  "email.received",
  "suppression.added",
]

/** Whether a format has events of this type. Resend's has those of emails, except cancellations, suppressions and domains. */
export const has = (format: Format, type: string): boolean => {
  if (format === "waybill" || type === "*") return true
  if (format === "sendgrid") return SENDGRID.includes(type)
  return format === "postmark"
    ? POSTMARK.includes(type)
    : type !== "email.canceled" && ["email.", "suppression.", "domain."].some((kind) => type.startsWith(kind))
}
