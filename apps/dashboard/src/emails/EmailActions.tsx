import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { CalendarClock, CircleX, Send } from "lucide-react"
import { useState } from "react"
import type { EmailWithContent } from "../api/Records.ts"
import { patch, post } from "../api/Api.ts"
import { useMay } from "../shell/useSession.ts"
import { Button } from "../ui/controls/Button.tsx"
import { Confirm, Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { say } from "../ui/feedback/Toasts.tsx"

interface Props {
  readonly email: EmailWithContent
  readonly onChanged: () => void
}

/** Somebody has not got it, and what they should have got is still there. */
const canResend = ({ content, recipients, status }: EmailWithContent): boolean =>
  content !== null &&
  status !== "queued" &&
  recipients.some((each) => each.status !== "delivered" && each.status !== "complained")

export const Actions = ({ email, onChanged }: Props) => {
  const may = useMay("email:send")
  const navigate = useNavigate()
  const [canceling, setCanceling] = useState(false)
  const [scheduling, setScheduling] = useState(false)
  const [resending, setResending] = useState(false)
  if (!may) return undefined
  return (
    <div className="flex flex-wrap gap-2">
      {email.status === "queued" && email.scheduled_at !== null ? (
        <Button icon={<CalendarClock size={14} />} onClick={() => setScheduling(true)}>
          Reschedule
        </Button>
      ) : undefined}
      {email.status === "queued" ? (
        <Button icon={<CircleX size={14} />} onClick={() => setCanceling(true)}>
          Cancel
        </Button>
      ) : undefined}
      {canResend(email) ? (
        <Button icon={<Send size={14} />} onClick={() => setResending(true)}>
          Send again
        </Button>
      ) : undefined}
      <Confirm
        open={canceling}
        onOpenChange={setCanceling}
        title="Cancel this message?"
        action="Cancel the message"
        onConfirm={async () => {
          await post(`/email/${email.id}/cancel`)
          onChanged()
          say("Canceled. It is given back to this month’s volume.")
        }}
      >
        Whoever has not got it yet will not get it.
      </Confirm>
      <Confirm
        open={resending}
        onOpenChange={setResending}
        title="Send it again?"
        action="Send a copy"
        onConfirm={async () => {
          const copy = await post<{ readonly id: string }>(`/email/${email.id}/resend`)
          say("A copy is on its way.")
          await navigate({ to: "/emails/$id", params: { id: copy.id } })
        }}
      >
        A copy with an id of its own goes to every recipient that this message has not reached.
      </Confirm>
      <Dialog open={scheduling} onOpenChange={setScheduling} title="Reschedule">
        <Reschedule
          email={email}
          onDone={() => {
            setScheduling(false)
            onChanged()
          }}
        />
      </Dialog>
    </div>
  )
}

const Reschedule = ({ email, onDone }: { readonly email: EmailWithContent; readonly onDone: () => void }) => {
  const [at, setAt] = useState("")
  const change = useMutation({
    mutationFn: (scheduled_at: string) => patch(`/email/${email.id}`, { scheduled_at }),
    onSuccess: () => {
      onDone()
      const before = email.scheduled_at
      say("Rescheduled.", before === null ? undefined : () => change.mutate(before))
    },
  })
  return (
    <DialogForm
      submit="Reschedule"
      busy={change.isPending}
      error={change.error}
      onCancel={onDone}
      onSubmit={() => {
        if (at !== "") change.mutate(new Date(at).toISOString())
      }}
    >
      <TextField
        label="Send at"
        type="datetime-local"
        required
        value={at}
        onChange={(event) => setAt(event.target.value)}
        hint="In your own time; at most 30 days ahead."
      />
    </DialogForm>
  )
}
