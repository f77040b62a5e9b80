import type { Absence } from "../makeDoor.ts"

const LISTS =
  "Waybill has no contacts, audiences, segments or topics. Keep recipients in your own database and send to them."
const INBOXES =
  "Waybill has no inboxes in this form. Received mail is at /emails/receiving, and threads are at GET /v1/threads."
const CLAIMS = "Waybill has no claims of domains. Create the domain and publish its records."

/** Paths that Resend's package calls and Waybill has no meaning for. */
export const ABSENT: ReadonlyArray<Absence> = [
  ["/audiences", LISTS],
  ["/segments", LISTS],
  ["/contacts", LISTS],
  ["/contact-properties", LISTS],
  ["/topics", LISTS],
  ["/broadcasts", "Waybill has no broadcasts: it sends transactional mail only. Send to each recipient."],
  ["/automations", "Waybill has no automations. Send each email from your program, with `scheduled_at` to delay it."],
  ["/events", "Waybill has no custom events. Send the email from your program instead."],
  ["/inboxes", INBOXES],
  ["/emails/metrics", "Waybill has no metrics in this form. Its statistics are at GET /v1/stats."],
  ["/emails/:/share", "Waybill has no links that share an email."],
  ["/domains/claim", CLAIMS],
  ["/domains/:/claim", CLAIMS],
  // The client for PHP has the plural.
  ["/domains/claims", CLAIMS],
  ["/domains/:/claims", CLAIMS],
  ["/api-keys/:", "Waybill has no change of an API key. Create another key and remove this one.", "PATCH"],
  ["/logs", "Waybill has no logs in this form. Its log of API requests is at GET /v1/requests."],
  ["/oauth", "Waybill has no OAuth grants. Programs use API keys."],
]
