import { Link } from "@tanstack/react-router"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import { Ban } from "lucide-react"
import { useSuppressionOf } from "../../session/useSuppressionOf.ts"
import * as SuppressionReason from "../../ui/display/SuppressionReason.ts"
import type { EmailFilters } from "./EmailFilters.ts"

/** Says of the address of a search that it is suppressed: a request to it alone is refused, and leaves no mail. */
export const AddressAnswer = ({ filters }: { readonly filters: EmailFilters }) => {
  const suppression = useSuppressionOf(EmailSearch.soughtAddress(filters))
  if (!suppression) return undefined
  return (
    <p role="status" className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
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
