import type { Email } from "../../api/Records.ts"
import { RelativeTime } from "../../ui/display/Time.tsx"

/** When the email was accepted; for one that waits, when it is due. One that was canceled was never sent. */
export const SentTime = ({ email, status }: { readonly email: Email; readonly status: string }) =>
  status === "scheduled" && email.scheduled_at !== null ? (
    <>
      Due <RelativeTime isAhead iso={email.scheduled_at} />
    </>
  ) : status === "canceled" ? (
    "Not sent"
  ) : (
    <RelativeTime iso={email.created_at} />
  )
