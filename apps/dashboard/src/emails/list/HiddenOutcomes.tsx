import { useQuery } from "@tanstack/react-query"
import * as SearchedStatus from "@waybill/domain/search/SearchedStatus"
import * as SearchText from "@waybill/domain/search/SearchText"
import { Button } from "../../ui/controls/Button.tsx"
import type { EmailFilters } from "../search/EmailFilters.ts"
import * as EmailTotals from "../search/EmailTotals.ts"

interface Props {
  readonly search: string
  readonly filters: EmailFilters
  readonly onSearch: (text: string) => void
}

/** Says how many emails bounced for some recipients only, which a search for bounced ones does not find, and shows them too. */
export const HiddenOutcomes = ({ filters, onSearch, search }: Props) => {
  const statuses = SearchText.valuesOf(search, "is")
  const hidden = filters.recipient_status === undefined ? SearchedStatus.hiddenBy(statuses) : undefined
  const { data } = useQuery({ ...EmailTotals.countOf({ ...filters, ...hidden }), enabled: hidden !== undefined })
  const total = hidden && data?.total
  if (!total?.count) return undefined
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-ink-2">
      <span className="first-letter:uppercase">
        {EmailTotals.text(total)} {hidden?.recipient_status?.replaceAll(",", " or ")} for some recipients only, not
        listed here.
      </span>
      <Button
        small
        onClick={() => onSearch(SearchText.withValues(SearchText.withValues(search, "is", []), "anyone", statuses))}
      >
        {total.count === 1 ? "Show it too" : "Show them too"}
      </Button>
    </p>
  )
}
