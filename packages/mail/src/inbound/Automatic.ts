import type { Automatic } from "@waybill/domain/inbound/InboundState"
import * as HeaderFields from "../mime/HeaderFields.ts"

const REPORT = /^\s*multipart\/report\b/iu
/** Reports that tell of no failure: read receipts and complaints. */
const OTHER_REPORT = /report-type\s*=\s*"?(?:disposition-notification|feedback-report)/iu
const LIST_HEADERS: ReadonlySet<string> = new Set(["list-id", "list-post", "list-unsubscribe"])

/**
 * Says whether a program wrote a mail, by its header (RFC 3834, RFC 2369, RFC 6522): nobody waits for an answer to it. Null
 * for a person's mail.
 */
export const kindOf = (headers: ReadonlyArray<HeaderFields.Field>): Automatic | null => {
  const has = (name: string, pattern: RegExp) => pattern.test(HeaderFields.valueOf(headers, name)?.trim() ?? "")
  const isMailer = has("from", /\b(?:mailer-daemon|postmaster)@/iu)
  if (
    (has("content-type", REPORT) && !has("content-type", OTHER_REPORT)) ||
    (isMailer && has("auto-submitted", /^auto-/iu)) ||
    has("x-failed-recipients", /@/u)
  )
    return "bounce"
  if (headers.some(({ key }) => LIST_HEADERS.has(key)) || has("precedence", /^(?:bulk|list)$/iu)) return "list"
  const isAutomatic =
    has("content-type", REPORT) ||
    has("auto-submitted", /^auto-/iu) ||
    has("precedence", /^(?:auto[_-]?reply|junk)$/iu) ||
    ["x-autoreply", "x-autorespond", "x-vacation"].some((name) => has(name, /./u)) ||
    has("x-auto-response-suppress", /\b(?:all|oof|autoreply)\b/iu)
  return isAutomatic ? "auto_reply" : null
}
