import type { Email } from "../../api/Records.ts"
import { StatusBadge } from "../../ui/display/Badge.tsx"
import { RelativeTime, useNow } from "../../ui/display/Time.tsx"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { type EmailFilters } from "./EmailFilters.ts"
import * as Hits from "./Hits.ts"
import { HiddenHits, Marked } from "./Marked.tsx"

/** An email in the command palette: its subject, recipient, status and time, and where else the searched text was found. */
export const PaletteEmail = ({ email, filters }: { readonly email: Email; readonly filters: EmailFilters }) => {
  const parts = Hits.partsOf(filters)
  return (
    <span className="flex min-w-0 grow items-center gap-3">
      <span className="flex min-w-0 grow flex-col">
        <span className="truncate">
          {email.subject === "" ? "No subject" : <Marked text={email.subject} parts={parts.subject} />}
        </span>
        <span className="truncate text-xs text-ink-3">
          to <Marked text={Hits.firstRecipient(email)} parts={parts.recipient} />
        </span>
        <HiddenHits email={email} parts={parts} tagsAreShown={false} />
      </span>
      <span className="flex shrink-0 flex-col items-end gap-0.5 text-xs text-ink-3">
        <StatusBadge status={shownStatus(email, useNow())} />
        <RelativeTime iso={email.created_at} />
      </span>
    </span>
  )
}
