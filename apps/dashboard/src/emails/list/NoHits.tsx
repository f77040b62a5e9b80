import { useQuery } from "@tanstack/react-query"
import { countByStatus } from "@waybill/domain/search/countByStatus"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as RecipientPart from "@waybill/domain/search/RecipientPart"
import * as SearchText from "@waybill/domain/search/SearchText"
import { SearchX } from "lucide-react"
import * as Paths from "../../api/Paths.ts"
import * as Queries from "../../api/Queries.ts"
import type { Email, Page } from "../../api/Records.ts"
import { Button } from "../../ui/controls/Button.tsx"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { EmptyState } from "../../ui/feedback/EmptyState.tsx"
import { useNow } from "../../ui/display/Time.tsx"

interface Props {
  /** The search that finds nothing, as it is read. */
  readonly search: string
  readonly context: EmailSearch.Context
  readonly onSearch: (text: string) => void
}

/** Shown for a search that finds nothing. One for states says in which states the emails are that it finds without them. */
export const NoHits = ({ context, onSearch, search }: Props) => {
  const others = SearchText.inAnyState(search)
  const { filters, isUnderstood } = EmailSearch.parse(others ?? "", context)
  const query = useQuery({
    ...Queries.read<Page<Email>>(["emails in any state", filters], "/email/logs", { ...filters, limit: Paths.PAGE }),
    enabled: others !== undefined && isUnderstood,
  })
  const now = useNow()
  const { data = [], has_more = false } = query.data ?? {}
  const recipient = filters.to ?? filters.recipient
  const [name, delivered] =
    recipient !== undefined && Object.keys(filters).length === 1
      ? [
          `all mail to ${RecipientPart.of(recipient).text}`,
          `All mail to ${RecipientPart.of(recipient).text} was delivered.`,
        ]
      : ["these emails in any state", "All emails with your other filters were delivered."]
  const areDelivered = !has_more && data.every(({ status }) => status === "delivered")
  return (
    <EmptyState
      icon={<SearchX size={20} />}
      title="No emails match your filters"
      action={
        <div className="flex flex-wrap justify-center gap-2">
          {others === undefined || data.length === 0 ? undefined : (
            <Button onClick={() => onSearch(others)}>
              <UntrustedText text={`Show ${name} (${countByStatus(data, now)}${has_more ? ", and more" : ""})`} />
            </Button>
          )}
          <Button onClick={() => onSearch("")}>Clear filters</Button>
        </div>
      }
    >
      <UntrustedText text={areDelivered && data.length > 0 ? delivered : "Change or clear the filters to see more."} />
    </EmptyState>
  )
}
