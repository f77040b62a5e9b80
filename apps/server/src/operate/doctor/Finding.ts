/** What one check came to. */
export interface Finding {
  readonly check: Check
  /** `warning`: it works, and may not for long or not for everybody; `skipped`: this instance does not need it. */
  readonly status: "ok" | "warning" | "broken" | "skipped"
  /** What was seen. */
  readonly found: string
  /** What to do about it, where there is something to do. */
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

/** How bad trouble is that some ways of sending depend on and others don't. */
export type Weight = "warning" | "broken"

export const ok = (check: Check, found: string): Finding => ({ check, status: "ok", found, mend: null })
export const skipped = (check: Check, found: string): Finding => ({ check, status: "skipped", found, mend: null })
export const trouble = (check: Check, status: Weight, found: string, mend: string): Finding => ({
  check,
  status,
  found,
  mend,
})
export const warning = (check: Check, found: string, mend: string) => trouble(check, "warning", found, mend)
export const broken = (check: Check, found: string, mend: string) => trouble(check, "broken", found, mend)
