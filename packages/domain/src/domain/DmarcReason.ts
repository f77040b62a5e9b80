/** Reasons of RFC 7489 and RFC 9990 for which a receiver does not apply the DMARC policy of a domain. */
export const REASONS = [
  "forwarded",
  "local_policy",
  "mailing_list",
  "other",
  "policy_test_mode",
  "sampled_out",
  "trusted_forwarder",
] as const
export type Reason = (typeof REASONS)[number]
