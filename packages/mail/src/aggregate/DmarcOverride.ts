import * as DmarcReason from "@waybill/domain/domain/DmarcReason"
import * as ReportText from "./ReportText.ts"

/** A reason, and what the reporter says about it. */
export interface Override {
  readonly reason: DmarcReason.Reason
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
  const reason = DmarcReason.REASONS.find((each) => each === word) ?? "other"
  const text = comment.includes("@") ? "" : ReportText.line(comment)
  return { reason, comment: text === "" ? null : text }
}

/** Adds up mail by reason. */
export const merge = (overrides: ReadonlyArray<CountedOverride>): ReadonlyArray<CountedOverride> => {
  const all = new Map<DmarcReason.Reason, CountedOverride>()
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
