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

/** Makes the findings of one check. */
export const of = (check: Check) => {
  const problem = (status: Severity, result: string, fix: string): Finding => ({ check, status, result, fix })
  return {
    ok: (result: string): Finding => ({ check, status: "ok", result, fix: null }),
    skipped: (result: string): Finding => ({ check, status: "skipped", result, fix: null }),
    problem,
    warning: (result: string, fix: string) => problem("warning", result, fix),
    broken: (result: string, fix: string) => problem("broken", result, fix),
  }
}
