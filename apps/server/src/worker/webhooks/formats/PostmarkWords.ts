import type { SuppressionRecord } from "@waybill/api/groups/Suppressions"

/** The only message stream, because Waybill has none; Postmark sends through it unless a message names another. */
export const STREAM = "outbound"

/** Returns Postmark's tag and metadata of a message that has our tags. */
export const labelsOf = (tags: ReadonlyArray<string>) => {
  const isPair = (tag: string) => tag.includes(":")
  const pairs = tags.filter(isPair).map((tag): [string, string] => {
    const colon = tag.indexOf(":")
    return [tag.slice(0, colon), tag.slice(colon + 1)]
  })
  return { Tag: tags.find((tag) => !isPair(tag)) ?? "", Metadata: Object.fromEntries(pairs) }
}

/** Returns a server's answer as Postmark writes it. */
export const detailsOf = (answer: { readonly code?: unknown; readonly response?: unknown }): string =>
  [answer.code, answer.response].filter((part) => part !== null && part !== undefined).join(" ")

interface Suppression {
  readonly SuppressionReason: "HardBounce" | "ManualSuppression" | "SpamComplaint"
  readonly Origin: "Customer" | "Recipient"
}

/** Postmark's words for a suppression, by its reason here. */
export const SUPPRESSIONS: { readonly [R in SuppressionRecord["reason"]]: Suppression } = {
  hard_bounce: { SuppressionReason: "HardBounce", Origin: "Recipient" },
  complaint: { SuppressionReason: "SpamComplaint", Origin: "Recipient" },
  manual: { SuppressionReason: "ManualSuppression", Origin: "Customer" },
  unsubscribe: { SuppressionReason: "ManualSuppression", Origin: "Recipient" },
}
