import type * as EmailState from "@waybill/domain/email/EmailState"
import * as MailboxProvider from "@waybill/domain/search/MailboxProvider"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as Address from "@waybill/domain/values/Address"
import * as EmailLog from "../readmodels/emails/EmailLog.ts"
import * as EmailFacets from "../readmodels/emails/EmailFacets.ts"
import type * as EmailLogFilter from "./EmailLogFilter.ts"
import * as EmailSubjects from "../readmodels/emails/EmailSubjects.ts"
import type * as EmailWords from "./EmailWords.ts"

/**
 * Whether a message that was found by its keys has the texts and reply codes of the filter. Different texts may have the same key, by
 * chance or because somebody has computed two such texts. `status` is the number in the row.
 */
export const matches = (filter: EmailLogFilter.Filter, status: number, message: EmailState.AcceptedEmail): boolean => {
  const { accepted, scheduled_at } = message
  return (
    (filter.from === null || Address.keyOf(accepted.from.address) === filter.from) &&
    (filter.domain === null || accepted.domain === filter.domain) &&
    hasTerms(filter, message) &&
    (filter.codes.length === 0 || ReplyCode.haveRecipient(message.recipients, filter.codes)) &&
    filter.parts.every((part) => hasPart(message, part)) &&
    isDue(filter, scheduled_at) &&
    (filter.scheduledAfter === null || isScheduled(filter, status, scheduled_at))
  )
}

const hasTerms = ({ terms }: EmailLogFilter.Filter, message: EmailState.AcceptedEmail): boolean => {
  if (terms.length === 0) return true
  const own = new Set(EmailLog.termsOf(message))
  return terms.every(({ text }) => own.has(text))
}

const isDue = ({ due }: EmailLogFilter.Filter, at: string | null): boolean =>
  due === null || (at !== null && at >= due.from && (due.to === undefined || at < due.to))

/** A message with another status that matches needs no scheduled time. */
const isScheduled = (
  { scheduledAfter, statuses }: EmailLogFilter.Filter,
  status: number,
  scheduled_at: string | null,
): boolean =>
  statuses.some((each) => EmailFacets.numberOf(each) === status) ||
  (scheduled_at !== null && scheduled_at > (scheduledAfter ?? ""))

const hasPart = (message: EmailState.AcceptedEmail, part: EmailWords.Part): boolean => {
  const { expression, folded, ids, lower, providers, where } = part
  const { recipients, accepted } = message
  const has = (text: string) => EmailSubjects.lowerAscii(text).includes(lower)
  if (expression !== undefined) {
    const word = new RegExp(expression, "u")
    return recipients.some(({ address }) => word.test(EmailSubjects.lowerAscii(address)))
  }
  if (providers.length > 0) return recipients.some(({ address }) => isAt(providers, address))
  return (
    (where !== "recipient" && EmailSubjects.fold(accepted.subject).includes(folded)) ||
    (where !== "subject" && recipients.some(({ address }) => has(address))) ||
    (where === "anywhere" &&
      (has(accepted.from.address) ||
        accepted.tags.some(has) ||
        Object.values(accepted.metadata ?? {}).includes(part.text))) ||
    ids.some(({ beginning }) => accepted.email_id.startsWith(beginning))
  )
}

const isAt = (providers: EmailWords.Part["providers"], address: string): boolean => {
  const provider = MailboxProvider.of(address)
  return provider !== MailboxProvider.OTHER && providers.includes(provider)
}
