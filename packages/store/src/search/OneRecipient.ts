import type * as Recipient from "@waybill/domain/email/Recipient"
import type * as EmailFilter from "@waybill/domain/search/EmailFilter"
import * as ReplyCode from "@waybill/domain/search/ReplyCode"
import * as Address from "@waybill/domain/values/Address"
import type { Criterion } from "./EmailLogCriteria.ts"
import * as EmailLogPart from "./EmailLogPart.ts"
import * as EmailWords from "./EmailWords.ts"

type Condition = (recipient: Recipient.Recipient) => boolean

/** Conditions on the outcome of a recipient. */
const outcomesOf = ({ code, recipient_status: statuses }: EmailFilter.Query): ReadonlyArray<Condition> => {
  const ranges = code?.map(ReplyCode.rangeOf) ?? []
  return [
    ...(statuses === undefined || statuses.length === 0
      ? []
      : [({ status }: Recipient.Recipient) => statuses.includes(status)]),
    ...(ranges.length === 0 ? [] : [(each: Recipient.Recipient) => ReplyCode.haveRecipient([each], ranges)]),
  ]
}

/** Conditions on who a recipient is. */
const addressesOf = ({ provider = [], recipient, to }: EmailFilter.Query): ReadonlyArray<Condition> => {
  const parts = [
    ...(recipient === undefined ? [] : [EmailWords.ofRecipient(recipient)]),
    ...(provider.length === 0 ? [] : [EmailWords.atProviders(provider)]),
  ]
  return [
    ...(to === undefined ? [] : [({ address }: Recipient.Recipient) => Address.keyOf(address) === Address.keyOf(to)]),
    ...parts.map(
      (part): Condition =>
        ({ address }) =>
          EmailLogPart.isInAddress(address, part),
    ),
  ]
}

/**
 * Outcomes are those of the recipient that is asked for: `provider:gmail anyone:bounced` finds mail that bounced at Gmail, and not
 * mail that reached somebody there and bounced elsewhere. The lists of the filters hold for a message; this is compared when it is
 * read. `to:ana to:bo anyone:bounced` is mail that bounced for both.
 */
export const criteriaOf = (query: EmailFilter.Query): ReadonlyArray<Criterion> => {
  const outcomes = outcomesOf(query)
  const addresses = addressesOf(query)
  if (outcomes.length === 0 || outcomes.length + addresses.length < 2) return []
  const conditions = addresses.length === 0 ? [outcomes] : addresses.map((address) => [address, ...outcomes])
  return [
    {
      where: (sql) => sql.literal("true"),
      isOfHistory: true,
      matches: ({ recipients }) =>
        conditions.every((all) => recipients.some((recipient) => all.every((holds) => holds(recipient)))),
    },
  ]
}
