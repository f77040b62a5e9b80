import { CalendarClock, CircleX } from "lucide-react"
import type { EmailWithContent, EventRecord } from "../../api/Records.ts"
import { formatDateTime, useNow } from "../../ui/display/Time.tsx"
import { shownStatus } from "@waybill/domain/search/shownStatus"

/** Says that the email was not sent: it is scheduled, or was canceled. */
export const Notice = ({
  email,
  events,
}: {
  readonly email: EmailWithContent
  readonly events: ReadonlyArray<EventRecord>
}) => {
  const now = useNow()
  const status = shownStatus(email, now)
  const canceledAt = events.findLast(({ type }) => type === "email.canceled")?.occurred_at
  const text =
    status === "scheduled" && email.scheduled_at !== null
      ? `Scheduled for ${formatDateTime(email.scheduled_at)}. Nothing was sent yet.`
      : status === "canceled"
        ? `Canceled${canceledAt === undefined ? "" : ` on ${formatDateTime(canceledAt)}`}. Nothing was sent.${
            email.content === null ? "" : " The text and attachments are deleted within an hour."
          }`
        : undefined
  if (text === undefined) return undefined
  return (
    <p role="note" className="mt-4 flex items-center gap-2.5 rounded-lg bg-sunken px-3 py-2.5 text-sm text-ink-2">
      {status === "scheduled" ? <CalendarClock size={15} aria-hidden /> : <CircleX size={15} aria-hidden />}
      {text}
    </p>
  )
}
