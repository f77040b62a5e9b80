/** Result of a check. */
export interface Finding {
  readonly check: Check
  /** `warning`: works, but possibly not for long or not for all mail; `skipped`: not needed by this instance. */
  readonly status: "ok" | "warning" | "broken" | "skipped"
  /** Observation of the check. */
  readonly found: string
  /** Suggested fix, if one is needed. */
  readonly mend: string | null
}

export const CHECKS = [
  "database",
  "schema",
  "clock",
  "disk",
  "dns",
  "relay",
  "port 25",
  "ehlo name",
  "return path",
  "tracking",
  "dkim keys",
] as const
export type Check = (typeof CHECKS)[number]

/** Status of a problem that only some transports depend on. */
export type Severity = "warning" | "broken"

export const ok = (check: Check, found: string): Finding => ({ check, status: "ok", found, mend: null })
export const skipped = (check: Check, found: string): Finding => ({ check, status: "skipped", found, mend: null })
export const problem = (check: Check, status: Severity, found: string, mend: string): Finding => ({
  check,
  status,
  found,
  mend,
})
export const warning = (check: Check, found: string, mend: string) => problem(check, "warning", found, mend)
export const broken = (check: Check, found: string, mend: string) => problem(check, "broken", found, mend)
