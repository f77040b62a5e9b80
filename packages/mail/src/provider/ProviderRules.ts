import type { Category } from "../reply/Category.ts"

/** Effect of an error on a recipient. `throttle` defers all mail of the transport, because the provider limits the sender. */
export type Action = "throttle" | "defer" | "fail" | "bounce"

/**
 * Rules for errors of providers, which are no SMTP replies. All conditions of a rule must match; the first matching rule
 * decides, so they are ordered from specific to vague. Each row is proved by samples in test/fixtures/providers.
 */
export interface Rule {
  readonly id: string
  readonly action: Action
  readonly category: Category
  /** Name or code of the error, as the provider's or nodemailer's documentation writes it. */
  readonly name?: RegExp
  /** First digits of the HTTP status. */
  readonly status?: string
  readonly text?: RegExp
  /** Length of the first pause; doubled while the provider goes on. */
  readonly pause_ms?: number
}

const SECOND_MS = 1_000
const HOUR_MS = 3_600 * SECOND_MS

export const RULES: ReadonlyArray<Rule> = [
  // A day's quota does not refill within minutes.
  {
    id: "daily-quota",
    action: "throttle",
    category: "throttled",
    text: /daily (?:message|sending) (?:quota|limit)|maximum 24[- ]hour send/i,
    pause_ms: HOUR_MS,
  },
  {
    id: "quota-name",
    action: "throttle",
    category: "throttled",
    name: /^(?:daily|monthly)_quota_exceeded$/,
    pause_ms: HOUR_MS,
  },
  {
    id: "rate",
    action: "throttle",
    category: "throttled",
    name: /TooManyRequests|Throttl|LimitExceeded|RateLimit|SlowDown/i,
    pause_ms: SECOND_MS,
  },
  { id: "rate-status", action: "throttle", category: "throttled", status: "429", pause_ms: SECOND_MS },

  // The operator's account with the provider is at fault, not the message: it is kept until that is mended.
  {
    id: "account",
    action: "defer",
    category: "auth",
    name: /SendingPaused|AccountSuspended|AccessDenied|UnrecognizedClient|InvalidClientTokenId|SignatureDoesNotMatch|InvalidSignature|ExpiredToken|CredentialsProvider|NoCredentials|EAUTH|EOAUTH2|EPROXYAUTH/i,
  },
  { id: "account-status", action: "defer", category: "auth", status: "401" },
  { id: "rights-status", action: "defer", category: "auth", status: "403" },

  { id: "sender", action: "fail", category: "policy", name: /MailFromDomainNotVerified/i },
  {
    id: "sender-text",
    action: "fail",
    category: "policy",
    text: /(?:email address|domain|sender|identity).{0,40}not (?:been )?verified/i,
  },
  { id: "too-large", action: "fail", category: "too_large", status: "413" },
  {
    id: "too-large-text",
    action: "fail",
    category: "too_large",
    text: /(?:message|payload|entity)(?:.{0,30}(?:too large|size exceed)| length is more than)/i,
  },
  // A provider's own list of suppressed addresses.
  {
    id: "suppressed",
    action: "bounce",
    category: "invalid_recipient",
    text: /(?:recipient|address).{0,60}(?:suppress|inactive|blocklist)/i,
  },
  { id: "address", action: "fail", category: "protocol", name: /^EENVELOPE$/i },
  {
    id: "refused",
    action: "fail",
    category: "content",
    name: /MessageRejected|BadRequest|InvalidParameter|Validation|EMESSAGE/i,
  },

  // A client without status and name. Last of the account's rules, because a message may have tokens of its own.
  {
    id: "account-text",
    action: "defer",
    category: "auth",
    text: /(?:invalid|incorrect|wrong|expired|unknown|missing|revoked|disabled).{0,20}(?:api[ _-]?key|access[ _-]?key|credential|login|password)|(?:api[ _-]?key|access[ _-]?key|credentials?).{0,30}(?:invalid|incorrect|expired|not found|missing|revoked|disabled)|not authorized to perform/i,
  },

  { id: "dns", action: "defer", category: "dns", name: /^(?:EDNS|ENOTFOUND|EAI_AGAIN)$/i },
  { id: "tls", action: "defer", category: "tls", name: /^ETLS$|CERT/i },
  {
    id: "connection",
    action: "defer",
    category: "connection",
    name: /^(?:ECONNECTION|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ESOCKET|EHOSTUNREACH|TimeoutError|AbortError|NetworkingError)$/i,
  },
  { id: "timeout-status", action: "defer", category: "unavailable", status: "408" },
  { id: "server-status", action: "defer", category: "unavailable", status: "5" },
  { id: "client-status", action: "fail", category: "content", status: "4" },
]

/** An error that nobody described: retried, because a fault of a program is no verdict on a message. */
export const FALLBACK: Rule = { id: "unknown", action: "defer", category: "unavailable" }
