import type { Duration } from "effect"
import * as ReplyHint from "./ReplyHint.ts"
import type { ReplyClass, Stage } from "./ReplyClass.ts"
import * as ReplyRules from "./ReplyRules.ts"

/** Characters of a reply that the rules see; more text says nothing new. */
export const REPLY_TEXT_LIMIT = 2000
/** A full mailbox is suppressed after this many bounces within the window. */
export const MAILBOX_FULL_BOUNCES = 3
export const MAILBOX_FULL_WINDOW_DAYS = 30

export interface Reply {
  readonly code: number
  readonly enhancedCode: string | undefined
  readonly text: string
  readonly stage: Stage
}

export interface Verdict {
  readonly class: ReplyClass
  readonly action: "defer" | "bounce"
  /** Effect of a bounce of this kind on the address; a deferral has none. */
  readonly suppress: "now" | "after_repeats" | "never"
  /** Time after which the server wants to be retried, if it says so. */
  readonly hint: Duration.Duration | undefined
  /** Id of the rule that decided, for the timeline. */
  readonly rule: string
}

type Effects = Pick<Verdict, "action" | "suppress">

/** Only the address's own fault may suppress it; faults of ours would suppress good addresses. */
const EFFECTS: Readonly<Record<ReplyClass, Effects>> = {
  invalid_recipient: { action: "bounce", suppress: "now" },
  bad_domain: { action: "bounce", suppress: "now" },
  mailbox_inactive: { action: "bounce", suppress: "now" },
  mailbox_full: { action: "bounce", suppress: "after_repeats" },
  greylisted: { action: "defer", suppress: "never" },
  throttled: { action: "defer", suppress: "never" },
  /** The receiving server has a problem of its own. */
  unavailable: { action: "defer", suppress: "never" },
  blocked: { action: "bounce", suppress: "never" },
  auth: { action: "bounce", suppress: "never" },
  policy: { action: "bounce", suppress: "never" },
  content: { action: "bounce", suppress: "never" },
  too_large: { action: "bounce", suppress: "never" },
  protocol: { action: "bounce", suppress: "never" },
}

/** Classifies a refusal. A 4xx is deferred whatever its text; a 5xx is as final as its class. */
export const classify = (reply: Reply): Verdict => {
  // Addresses are replaced, since <spam@virus.example> is no verdict on content.
  const text = reply.text.slice(0, REPLY_TEXT_LIMIT).replace(ADDRESS, "address")
  const code = String(reply.code)
  const rule = ReplyRules.rules.find((candidate) => matches(candidate, reply, code, text)) ?? FALLBACK
  const effects = EFFECTS[rule.class]
  // A relay that refuses our login refuses the operator's configuration, not the mail.
  const defers = effects.action === "defer" || reply.code < 500 || reply.stage === "auth"
  return {
    class: rule.class,
    action: defers ? "defer" : "bounce",
    suppress: defers || isForeignToPolicy(rule, reply) ? "never" : effects.suppress,
    hint: ReplyHint.find(text),
    rule: rule.id,
  }
}

/** 5.7.x is about rights and rules, so text alone must not turn it into a bad address. */
const isForeignToPolicy = (rule: ReplyRules.Rule, { enhancedCode }: Reply): boolean =>
  rule.enhanced === undefined && enhancedCode?.startsWith("5.7.") === true

const ADDRESS = /[^\s<>"'()]{1,64}@[^\s<>"'():;,]{1,255}/g

/** A code outside 4xx and 5xx where neither was expected: the dialogue is out of step, so nothing is final. */
const FALLBACK: ReplyRules.Rule = { id: "out-of-step", class: "unavailable" }

const matches = (rule: ReplyRules.Rule, reply: Reply, code: string, text: string): boolean =>
  (rule.code === undefined || code.startsWith(rule.code)) &&
  (rule.stages === undefined || rule.stages.includes(reply.stage)) &&
  (rule.enhanced === undefined || (reply.enhancedCode !== undefined && rule.enhanced.test(reply.enhancedCode))) &&
  (rule.text === undefined || rule.text.test(text))

const REPLY_LINE = /^(\d{3})(?:[ -]|$)(?:#?([245]\.\d{1,3}\.\d{1,3})\b[ :,-]*)?(.*)$/

/** Parses a reply from the wire or a report: joins its lines and splits off code and enhanced code. */
export const parse = (raw: string, stage: Stage): Reply | undefined => {
  let code: number | undefined
  let enhancedCode: string | undefined
  const texts: Array<string> = []
  for (const line of raw.slice(0, REPLY_TEXT_LIMIT * 2).split(/\r?\n/)) {
    const [, digits, enhanced, text] = REPLY_LINE.exec(line.trim()) ?? []
    if (digits !== undefined && (code === undefined || Number(digits) === code)) {
      code ??= Number(digits)
      enhancedCode ??= enhanced
      if (text !== undefined && text.trim() !== "") texts.push(text.trim())
    } else if (line.trim() !== "") texts.push(line.trim())
  }
  return code === undefined || code < 200 || code > 599
    ? undefined
    : { code, enhancedCode, text: texts.join(" "), stage }
}
