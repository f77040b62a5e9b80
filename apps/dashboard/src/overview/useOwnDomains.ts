import { useQuery } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import type { Email, Page, StatsRow } from "../api/Records.ts"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"

/** Emails that are counted: a page of the log, because the statistics count large providers only. */
const MAX_COUNTED = 100

/** The part of a row that the breakdown shows. */
export type CountedRow = Pick<
  StatsRow,
  "domain" | "tag" | "provider" | "api_key_id" | "accepted" | "opened" | "clicked" | "recipient_counts"
>

interface OwnDomains {
  readonly emails: number
  /** Start of the emails that were counted: of the range, or of the newest ones if the range has more. */
  readonly from: string
  /** Whether all emails of the range were counted. Shares of some of them would not be those of the range. */
  readonly isWhole: boolean
  readonly rows: ReadonlyArray<CountedRow>
}

/** Counts the recipients of the newest emails by their domains; nothing before they are read. */
export const useOwnDomains = (from: string, to: string, isWanted: boolean): OwnDomains | undefined => {
  const { data } = useQuery({
    queryKey: ["own-domains", from, to],
    queryFn: ({ signal }) =>
      Api.get<Page<Email>>("/email/logs", { created_after: from, created_before: to, limit: MAX_COUNTED }, signal),
    enabled: isWanted,
  })
  if (!isWanted || data === undefined || data.data.length === 0) return undefined
  const recipients = data.data.flatMap((email) => email.recipients)
  const byDomain = Map.groupBy(recipients, ({ address }) => address.slice(address.lastIndexOf("@") + 1).toLowerCase())
  return {
    emails: data.data.length,
    from: data.has_more ? (data.data.at(-1)?.created_at ?? from) : from,
    isWhole: !data.has_more,
    rows: [...byDomain].map(([domain, found]) => rowOf(domain, found)),
  }
}

const rowOf = (domain: string, recipients: Email["recipients"]): CountedRow => ({
  domain,
  tag: null,
  provider: null,
  api_key_id: null,
  accepted: recipients.length,
  opened: 0,
  clicked: 0,
  recipient_counts: Object.fromEntries(
    SearchedStatus.OF_RECIPIENTS.map((each) => [each, recipients.filter(({ status }) => status === each).length]),
  ) as CountedRow["recipient_counts"],
})
