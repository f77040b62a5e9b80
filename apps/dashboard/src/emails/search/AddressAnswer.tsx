import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import { Ban } from "lucide-react"
import * as Queries from "../../api/Queries.ts"
import { useHasScope } from "../../session/useHasScope.ts"
import * as SuppressionReason from "../../ui/display/SuppressionReason.ts"
import type { EmailFilters } from "./EmailFilters.ts"

/** The one address that a search asks for, as a recipient or as its only words. */
export const addressOf = ({ q, recipient, to = recipient ?? q ?? "" }: EmailFilters): string | undefined => {
  const address = to.replaceAll('"', "")
  return EmailSearch.isAddress(address) ? address : undefined
}

/** Says of an address without mail that it is suppressed: a request to it alone is refused, and leaves no mail. */
export const AddressAnswer = ({ filters }: { readonly filters: EmailFilters }) => {
  const address = addressOf(filters)
  const canRead = useHasScope("suppressions:read")
  const suppression = useQuery({
    ...Queries.suppressionOf(address ?? ""),
    enabled: address !== undefined && canRead,
  }).data
  if (!suppression) return undefined
  return (
    <p role="status" className="mb-3 flex flex-wrap items-center justify-center gap-x-2 gap-y-1 text-ink">
      <Ban size={14} aria-hidden />
      {SuppressionReason.sentenceOf(suppression)}.
      <Link to="/suppressions" search={{ q: suppression.email }} className="link">
        View suppression
      </Link>
      <Link to="/requests" search={{ recipient: suppression.email }} className="link">
        View refused requests
      </Link>
    </p>
  )
}
