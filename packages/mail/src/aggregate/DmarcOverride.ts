import * as ReportText from "./ReportText.ts"

/** Reasons of RFC 7489 and RFC 9990 for which a receiver does not apply the policy of a domain. */
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

/** A reason, and what the reporter says about it. */
export interface Override {
  readonly reason: Reason
  readonly comment: string | null
}

/** Mail to which the policy was not applied. */
export interface CountedOverride extends Override {
  readonly messages: number
}

/** Reads a reason; undefined for an empty one. A comment with an address is left out, which could be that of a person. */
export const parse = (type: string, comment: string): Override | undefined => {
  const word = type.toLowerCase()
  if (word === "" && comment === "") return undefined
  const reason = REASONS.find((each) => each === word) ?? "other"
  const text = comment.includes("@") ? "" : ReportText.line(comment)
  return { reason, comment: text === "" ? null : text }
}

/** Adds up mail by reason. */
export const merge = (overrides: ReadonlyArray<CountedOverride>): ReadonlyArray<CountedOverride> => {
  const all = new Map<Reason, CountedOverride>()
  for (const each of overrides) {
    const same = all.get(each.reason)
    all.set(
      each.reason,
      same === undefined
        ? each
        : { ...same, messages: same.messages + each.messages, comment: same.comment ?? each.comment },
    )
  }
  return [...all.values()]
}
