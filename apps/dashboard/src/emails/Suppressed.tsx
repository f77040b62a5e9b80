import { useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import type { EmailWithContent, Suppression } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"

interface Props {
  readonly email: EmailWithContent
  readonly suppression: Suppression
}

/** The suppression of a recipient: which mail caused it, and how to send to the address again. */
export const Suppressed = ({ email, suppression }: Props) => {
  const [isOpen, setOpen] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()
  const [canRemove, canSend] = [useHasScope("admin"), useHasScope("email:send")]
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-2 pt-1">
      {canRemove && canSend && email.content !== null ? (
        <Button small onClick={() => setOpen(true)}>
          Remove and send again
        </Button>
      ) : undefined}
      <Link to="/suppressions" search={{ q: suppression.email }} className="link">
        View suppression
      </Link>
      {suppression.email_id === null || suppression.email_id === email.id ? undefined : (
        <Link to="/emails/$id" params={{ id: suppression.email_id }} className="link">
          View the email that caused it
        </Link>
      )}
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Remove the suppression and send again?"
        isDestructive={false}
        action="Remove and send again"
        onConfirm={async () => {
          await Api.remove(`/suppressions/${encodeURIComponent(suppression.email)}`)
          void client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
          const copy = await Api.post<{ readonly id: string }>(`/email/${email.id}/resend`)
          showToast("Suppression removed, copy queued.")
          await navigate({ to: "/emails/$id", params: { id: copy.id } })
        }}
      >
        Later mail to <UntrustedText text={suppression.email} /> is sent again. A copy of this email goes to the
        recipients that it did not reach. If the address bounces again, it is suppressed again.
      </ConfirmDialog>
    </p>
  )
}
