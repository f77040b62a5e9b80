import * as Table from "@waybill/domain/values/Table"
import * as ReportFact from "./ReportFact.ts"
import * as Fields from "./ReportFields.ts"

/** RFC 3464, and RFC 6533 for internationalised mail. */
export const DELIVERY_STATUS = /^message\/(?:global-)?delivery-status$/
const RETURNED_HEAD =
  /^(?:message\/rfc822|message\/global|text\/rfc822-headers|message\/(?:global|rfc822)-headers|text\/rfc822)$/

const KINDS: Readonly<Record<string, ReportFact.ReportFact["kind"]>> = {
  failed: "bounce",
  delayed: "delayed",
  delivered: "delivered",
  // Passed on to a server that does not report: the most that can be known.
  relayed: "delivered",
  expanded: "delivered",
}

/** Returns undefined when the message carries no delivery status. */
export const read = (parts: ReportFact.Parts): ReadonlyArray<ReportFact.ReportFact> | undefined => {
  const statuses = parts.ofType(DELIVERY_STATUS)
  if (statuses.length === 0) return undefined
  const originalMessageId = Fields.messageId(returned(parts)) ?? ReportFact.answered(parts)
  const facts: Array<ReportFact.ReportFact> = []
  for (const status of statuses) {
    const groups = Fields.blocks(status)
    // The first group is about the message, but not every server keeps the empty line after it.
    const message: Fields.Fields = groups[0] ?? new Map()
    for (const group of groups) {
      const fact = recipientFact(group, message, originalMessageId)
      if (fact !== undefined && facts.length < ReportFact.RECIPIENTS_LIMIT) facts.push(fact)
    }
  }
  return facts
}

/** Returns the head of the returned message, wherever the server put it. */
export const returned = (parts: ReportFact.Parts): Fields.Fields =>
  Fields.head(parts.ofType(RETURNED_HEAD)[0]?.slice(0, RETURNED_HEAD_LIMIT) ?? "")

const RETURNED_HEAD_LIMIT = 64 * 1024

const recipientFact = (
  group: Fields.Fields,
  message: Fields.Fields,
  originalMessageId: string | undefined,
): ReportFact.ReportFact | undefined => {
  const final = Fields.address(Fields.first(group, "final-recipient"))
  const originalRecipient = Fields.address(Fields.first(group, "original-recipient", "x-actual-recipient"))
  const action = Fields.first(group, "action")
    ?.toLowerCase()
    .split(/[\s(;]/)[0]
  if (action === undefined || (final === undefined && originalRecipient === undefined)) return undefined
  const kind = Table.at(KINDS, action)
  if (kind === undefined) return undefined
  const diagnostic = Fields.diagnostic(Fields.first(group, "diagnostic-code"))
  // The server's own text is closer to the cause than a status that another server added.
  const status = Fields.status(Fields.first(group, "status"))
  return {
    kind,
    recipient: final ?? originalRecipient,
    originalRecipient,
    action,
    status,
    diagnostic,
    reportingMta: Fields.host(Fields.first(message, "reporting-mta")),
    remoteMta: Fields.host(Fields.first(group, "remote-mta")),
    originalMessageId: originalMessageId,
    envelopeId: Fields.xtext(Fields.first(message, "original-envelope-id")),
    verdict: kind === "bounce" ? ReportFact.judge(diagnostic, status) : undefined,
  }
}
