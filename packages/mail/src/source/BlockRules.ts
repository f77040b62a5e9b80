const HOUR_MS = 3_600_000

/**
 * Replies that refuse the address of the sender, not a message or a recipient. All conditions of a rule must match; the
 * first matching rule decides. Each row is proved by samples in test/fixtures/replies and blocks.json.
 */
export interface Rule {
  readonly id: string
  /** First digits of the code. */
  readonly code?: string
  readonly enhanced?: RegExp
  readonly text: RegExp
  /** Length of the first pause; doubled while the provider goes on. */
  readonly pause_ms: number
}

/** Pause after a reply that says that it is temporary, and after one that does not. */
export const TEMPORARY_MS = HOUR_MS
export const BLOCKED_MS = 6 * HOUR_MS
/** Longest pause, after which one message tries whether the block still holds. */
export const LONGEST_PAUSE_MS = 24 * HOUR_MS

export const RULES: ReadonlyArray<Rule> = [
  // Gmail: reputation of the address, as a 421 for a while and then as a 550.
  {
    id: "gmail-reputation",
    code: "4",
    text: /(?:low|bad|poor) reputation of the sending ip|unsolicited mail originating from your ip/i,
    pause_ms: TEMPORARY_MS,
  },
  {
    id: "gmail-reputation-refused",
    code: "5",
    text: /(?:low|bad|poor) reputation of the sending ip|unsolicited mail originating from your ip/i,
    pause_ms: BLOCKED_MS,
  },
  // Microsoft. S775 is a limit by reputation; a banned sender is asked to write to the delisting address.
  { id: "microsoft-reputation", code: "4", text: /due to ip reputation/i, pause_ms: TEMPORARY_MS },
  {
    id: "microsoft-banned",
    code: "55",
    enhanced: /^5\.7\.(?:511|60[6-9]|6[1-4]\d)$/,
    text: /banned/i,
    pause_ms: BLOCKED_MS,
  },
  {
    id: "microsoft-network",
    code: "55",
    text: /part of their network is on our block list|\(S3(?:140|150)\)/i,
    pause_ms: BLOCKED_MS,
  },
  // Yahoo and AOL. TS03 does not end by itself.
  { id: "yahoo-permanent", code: "4", text: /\[TSS?0?3\]|will be permanently deferred/i, pause_ms: LONGEST_PAUSE_MS },
  { id: "yahoo-list", text: /\[BL\d\d\]|connections will not be accepted from/i, pause_ms: BLOCKED_MS },
  { id: "aol-connection", text: /\(CON:B\d\)/i, pause_ms: BLOCKED_MS },
  { id: "icloud", code: "55", text: /\[CS01\]/i, pause_ms: BLOCKED_MS },
  // German providers name the address in the greeting.
  { id: "gmx", code: "55", text: /ip address is (?:block|black) ?listed/i, pause_ms: BLOCKED_MS },
  { id: "t-online", code: "55", text: /IP=\S+ - a problem occurred/i, pause_ms: BLOCKED_MS },
  { id: "free", text: /too many spams from your ip/i, pause_ms: BLOCKED_MS },
  { id: "proofpoint", text: /ipcheck\.proofpoint/i, pause_ms: BLOCKED_MS },
  { id: "cisco", code: "55", text: /sending mta's poor reputation/i, pause_ms: BLOCKED_MS },
  { id: "cloudmark", text: /\bcsi (?:reset|\S*cloudmark)|csi\.cloudmark/i, pause_ms: BLOCKED_MS },
  // The address has no name, or a wrong one: an operator can correct it at any time.
  {
    id: "reverse-dns",
    text: /bad dns ptr|(?:does not have a|no|missing|without a?) ptr\b|cannot find your (?:reverse )?hostname|(?:reverse|rdns|ptr)\b.{0,30}(?:lookup|record|hostname).{0,20}(?:fail|missing|not found|does not|required)/i,
    pause_ms: TEMPORARY_MS,
  },
  // Lists that many servers query. The client or address is named, not a link in the message.
  {
    id: "list",
    text: /(?:client host|your ip|connecting ip|ip address|\bip)\b.{0,80}(?:blocked using|listed (?:in|on|at|by)|found on)|found on one or more (?:dns)?bls?/i,
    pause_ms: BLOCKED_MS,
  },
  {
    id: "address",
    code: "55",
    text: /(?:your|sending|connecting) ip(?: address)?\b.{0,40}\b(?:is|has been|was)\b.{0,20}\b(?:blocked|banned|blacklisted|blocklisted)/i,
    pause_ms: BLOCKED_MS,
  },
]

export interface Refusal {
  readonly code: number | null
  readonly enhanced_code: string | null
  readonly response: string | null
}

/** Returns the rule of a reply that refuses the address of the sender. */
export const find = ({ code, enhanced_code, response }: Refusal): Rule | undefined => {
  if (code === null || code < 400 || response === null) return undefined
  return RULES.find(
    (rule) =>
      (rule.code === undefined || String(code).startsWith(rule.code)) &&
      (rule.enhanced === undefined || (enhanced_code !== null && rule.enhanced.test(enhanced_code))) &&
      rule.text.test(response),
  )
}
