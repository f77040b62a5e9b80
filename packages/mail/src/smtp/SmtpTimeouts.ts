/**
 * RFC 5321 §4.5.3.2 asks for minutes. A waiting worker holds a lease and a connection slot, so timeouts are shorter
 * where a later attempt finds the same; the final dot keeps the longest, since giving up there creates duplicates.
 */
export const TIMEOUTS = {
  connect_ms: 15_000,
  greeting_ms: 30_000,
  ehlo_ms: 30_000,
  tls_ms: 20_000,
  auth_ms: 30_000,
  mail_ms: 60_000,
  rcpt_ms: 60_000,
  data_ms: 60_000,
  block_ms: 60_000,
  end_of_data_ms: 300_000,
  quit_ms: 2_000,
} as const
export type Timeouts = { readonly [Name in keyof typeof TIMEOUTS]: number }
