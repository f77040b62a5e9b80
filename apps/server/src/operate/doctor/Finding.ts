/** Result of a check. */
export interface Finding {
  readonly check: Check
  /** `warning`: works, but possibly not for long or not for all mail; `skipped`: not needed by this instance. */
  readonly status: "ok" | "warning" | "broken" | "skipped"
  /** Observation of the check. */
  readonly result: string
  /** Suggested fix, if one is needed. */
  readonly fix: string | null
}

export const CHECKS = [
  "database",
  "schema",
  "nodes",
  "cells",
  "clock",
  "disk",
  "dns",
  "dane",
  "relay",
  "nodemailer",
  "port 25",
  "ehlo name",
  "addresses",
  "site rules",
  "return path",
  "dmarc reports",
  "tracking",
  "dkim keys",
] as const
export type Check = (typeof CHECKS)[number]

/** Status of a problem that only some transports depend on. */
export type Severity = "warning" | "broken"

export const ok = (check: Check, result: string): Finding => ({ check, status: "ok", result, fix: null })
export const skipped = (check: Check, result: string): Finding => ({ check, status: "skipped", result, fix: null })
export const problem = (check: Check, status: Severity, result: string, fix: string): Finding => ({
  check,
  status,
  result,
  fix,
})
export const warning = (check: Check, result: string, fix: string) => problem(check, "warning", result, fix)
export const broken = (check: Check, result: string, fix: string) => problem(check, "broken", result, fix)
