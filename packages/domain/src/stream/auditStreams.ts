/** Kinds of objects by which the audit log can be filtered. */
export const auditStreams = [
  "account",
  "api_key",
  "domain",
  "inbound",
  "inbound_route",
  "suppression",
  "team",
  "template",
  "test_clock",
  "webhook",
] as const
