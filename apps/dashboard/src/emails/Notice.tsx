import type { EmailWithContent, EventRecord } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { DueTime, formatDateTime, RelativeTime, useNow } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { shownStatus } from "@waybill/domain/search/shownStatus"
import { useActorOf } from "./Timeline.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

/** Events that set the time of an email. */
const SCHEDULING: ReadonlySet<string> = new Set(["email.queued", "email.rescheduled"])

interface Props {
  readonly email: EmailWithContent
  readonly events: ReadonlyArray<EventRecord>
}

/** Says of an email of which nothing was sent when it goes out or that it was canceled, and who decided so. */
export const Notice = ({ email, events }: Props) => {
  const now = useNow()
  const actorOf = useActorOf()
  const canSend = useHasScope("email:send")
  const { content, recipients, scheduled_at } = email
  const isScheduled = shownStatus(email, now) === "scheduled"
  const event = events.findLast(({ type }) => (isScheduled ? SCHEDULING.has(type) : type === "email.canceled"))
  const actor = event === undefined ? undefined : actorOf(event)
  const by =
    actor === undefined ? undefined : (
      <>
        {" "}
        by <UntrustedText text={actor} />
      </>
    )
  const [only] = recipients
  return (
    <Panel title={isScheduled ? "What happens next" : "What happened"}>
      <div role="note" className="flex flex-col gap-1.5 px-4 py-3 text-sm break-words">
        {isScheduled && scheduled_at !== null ? (
          <>
            <p>
              Goes out <DueTime iso={scheduled_at} /> to{" "}
              {recipients.length === 1 && only !== undefined ? (
                <UntrustedText text={only.address} />
              ) : (
                `${recipients.length} recipients`
              )}
              . Nothing was sent yet.
            </p>
            <p className="text-ink-2">
              {event === undefined ? undefined : (
                <>
                  {event.type === "email.queued" ? "Scheduled" : "Rescheduled"} <RelativeTime iso={event.occurred_at} />
                  {by}.{" "}
                </>
              )}
              {canSend ? "Until then you can change the time or cancel it." : undefined}
            </p>
          </>
        ) : (
          <>
            <p>
              Canceled{event === undefined ? undefined : ` on ${formatDateTime(event.occurred_at)}`}
              {by}. Nothing was sent.
            </p>
            {content === null ? undefined : (
              <p className="text-ink-2">The text and attachments are deleted within an hour.</p>
            )}
          </>
        )}
      </div>
    </Panel>
  )
}
