import { useQuery } from "@tanstack/react-query"
import { countByStatus } from "@waybill/domain/search/countByStatus"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import * as RecipientPart from "@waybill/domain/search/RecipientPart"
import * as SearchText from "@waybill/domain/search/SearchText"
import { SearchX } from "lucide-react"
import { useHasScope } from "../../session/useHasScope.ts"
import { Link } from "@tanstack/react-router"
import type { EmailFilters } from "../search/EmailFilters.ts"
import { SuppressAddress } from "./SearchActions.tsx"
import * as EmailTotals from "../search/EmailTotals.ts"
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

/** Searches that are counted, and offered, instead of one that finds nothing. */
const MAX_COUNTED = 8
const MAX_OFFERS = 3

/** Returns searches that find emails: those without one of the filters, or else the words alone. */
const useOffers = (search: string, others: string | undefined, context: EmailSearch.Context) => {
  const { chips, isUnderstood } = EmailSearch.parse(search, context)
  const words = SearchText.tokensOf(search).flatMap(({ end, field, start }) =>
    field === undefined ? [search.slice(start, end)] : [],
  )
  const wider = chips.map((chip) => ({
    name: `Without “${chip.name}: ${chip.value}”`,
    search: SearchText.without(search, chip),
  }))
  const asWords = { name: `Only ${words.map((word) => `“${word}”`).join(" ")}`, search: words.join(" ") }
  const candidates = [...wider, asWords]
    .filter(
      (each, nth, all) =>
        isUnderstood &&
        ![search, "", others].includes(each.search) &&
        all.findIndex((other) => other.search === each.search) === nth,
    )
    .slice(0, MAX_COUNTED)
  const totals = EmailTotals.useTotals(
    candidates.map((each) => each.search),
    context,
  )
  return candidates
    .flatMap((each, nth) => {
      const total = totals?.[nth]
      return total === undefined || total.count === 0 ? [] : [{ ...each, total }]
    })
    .slice(0, MAX_OFFERS)
}

/** Other places in which an address may be, where no mail was sent to it. */
const OfAddress = ({ address, filters }: { readonly address: string; readonly filters: EmailFilters }) => (
  <>
    <Link to="/requests" search={{ recipient: address }} className="link">
      Refused requests
    </Link>
    {useHasScope("inbound:read") ? (
      <Link to="/received" search={{ q: address }} className="link">
        Received from it
      </Link>
    ) : undefined}
    <SuppressAddress filters={filters} />
  </>
)

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
  const offers = useOffers(search, others, context)
  const areDelivered = !has_more && data.every(({ status }) => status === "delivered")
  const { filters: own } = EmailSearch.parse(search, context)
  const address = Object.keys(own).length === 1 ? EmailSearch.soughtAddress(own) : undefined
  const advice =
    offers.length > 0
      ? "With fewer filters there are emails."
      : address === undefined
        ? "Change or clear the filters to see more."
        : "A request that is refused leaves no email."
  return (
    <EmptyState
      icon={<SearchX size={20} />}
      title={address === undefined ? "No emails match your filters" : `No mail to ${address}`}
      action={
        <div className="flex flex-wrap items-center justify-center gap-x-4 gap-y-2 text-sm">
          {others === undefined || data.length === 0 ? undefined : (
            <Button onClick={() => onSearch(others)}>
              <UntrustedText text={`Show ${name} (${countByStatus(data, now)}${has_more ? ", and more" : ""})`} />
            </Button>
          )}
          {offers.map((offer) => (
            <Button key={offer.search} onClick={() => onSearch(offer.search)}>
              <UntrustedText text={`${offer.name} (${EmailTotals.text(offer.total)})`} />
            </Button>
          ))}
          {address === undefined ? undefined : <OfAddress address={address} filters={own} />}
        </div>
      }
    >
      <UntrustedText text={areDelivered && data.length > 0 ? delivered : advice} />
    </EmptyState>
  )
}
