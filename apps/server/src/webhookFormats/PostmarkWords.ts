import type { SuppressionRecord } from "@waybill/api/groups/Suppressions"
import * as Labels from "@waybill/domain/email/Labels"

/** The only message stream, because Waybill has none; Postmark sends through it unless a message names another. */
export const STREAM = "outbound"

/** Postmark's number of the account, which is the only server that its keys know. */
export const SERVER_ID = 1

/** Tags and metadata of a message, as its log record has them. */
export interface Labeled {
  readonly tags: ReadonlyArray<string>
  readonly metadata: Labels.Metadata
}

export const UNLABELED: Labeled = { tags: [], metadata: {} }

/** Returns Postmark's tag, of which a message has one, and its metadata. */
export const labelsOf = ({ metadata, tags }: Labeled) => ({
  Tag: Labels.labelsOf(tags, metadata)[0] ?? "",
  Metadata: Labels.pairsOf(metadata),
})

/** Returns the filter of our list of emails that finds a tag of Postmark. */
export const tagFilter = (tag: string): [name: string, value: string] =>
  Labels.isTag(tag) ? ["tag", tag] : [`metadata.${Labels.furtherName(1)}`, tag]

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
