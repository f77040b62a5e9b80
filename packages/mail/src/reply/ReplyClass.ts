/** Meaning of a refusal, as events, statistics and suppressions name it. */
export const CLASSES = [
  "invalid_recipient",
  "bad_domain",
  "mailbox_inactive",
  "mailbox_full",
  "greylisted",
  "throttled",
  "unavailable",
  "blocked",
  "auth",
  "policy",
  "content",
  "too_large",
  "protocol",
] as const
export type ReplyClass = (typeof CLASSES)[number]

/** Point of an SMTP session at which a reply arrived. */
export type Stage =
  | "connect"
  | "greeting"
  | "ehlo"
  | "starttls"
  | "auth"
  | "mail"
  | "rcpt"
  | "data"
  | "body"
  | "end_of_data"
