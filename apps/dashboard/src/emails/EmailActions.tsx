import { useNavigate, useSearch } from "@tanstack/react-router"
import { CalendarClock, CircleX, Send } from "lucide-react"
import { useState } from "react"
import type { EmailWithContent } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { GIVEN_UP } from "./search/EmailFilters.ts"

interface Props {
  readonly email: EmailWithContent
  readonly onChanged: () => void
}

/** Recipients that the dialog lists; the others are counted. */
const MAX_LISTED = 10

/** Recipients that a copy is sent to; none once the content is deleted. */
const unreachedOf = ({ content, recipients }: EmailWithContent): EmailWithContent["recipients"] =>
  content === null ? [] : recipients.filter(({ status }) => GIVEN_UP.has(status))

export const EmailActions = ({ email, onChanged }: Props) => {
  const canSend = useHasScope("email:send")
  const navigate = useNavigate()
  const [canceling, setCanceling] = useState(false)
  const [scheduling, setScheduling] = useState(false)
  const [resending, setResending] = useState(false)
  // The palette asks for one of them.
  const { reschedule = false, resend = false } = useSearch({ from: "/shell/emails/$id" })
  if (!canSend) return undefined
  const close = () => {
    setResending(false)
    setScheduling(false)
    if (resend || reschedule) void navigate({ to: ".", search: {}, replace: true, resetScroll: false })
  }
  const canReschedule = email.status === "queued" && email.scheduled_at !== null
  const unreached = unreachedOf(email)
  const inProgress = email.recipients.filter(({ status }) => status === "queued" || status === "deferred").length
  return (
    <>
      {canReschedule ? (
        <Button icon={<CalendarClock size={14} />} onClick={() => setScheduling(true)}>
          Reschedule
        </Button>
      ) : undefined}
      {email.status === "queued" ? (
        <Button icon={<CircleX size={14} />} onClick={() => setCanceling(true)}>
          Cancel
        </Button>
      ) : undefined}
      {unreached.length > 0 ? (
        <Button icon={<Send size={14} />} onClick={() => setResending(true)}>
          Resend
        </Button>
      ) : undefined}
      <ConfirmDialog
        open={canceling}
        onClose={() => setCanceling(false)}
        title="Cancel this email?"
        cancelLabel="Keep email"
        action="Cancel email"
        onConfirm={async () => {
          await Api.post(`/email/${email.id}/cancel`)
          onChanged()
          showToast("Email canceled.")
        }}
      >
        Recipients who have not received it yet will not receive it. If nobody has, its text and attachments are deleted
        within an hour; until then you can send a copy.
      </ConfirmDialog>
      <ConfirmDialog
        open={(resending || resend) && unreached.length > 0}
        onClose={close}
        title="Resend to recipients it didn’t reach?"
        isDestructive={false}
        action="Resend"
        onConfirm={async () => {
          const copy = await Api.post<{ readonly id: string }>(`/email/${email.id}/resend`)
          showToast("Copy queued.")
          await navigate({ to: "/emails/$id", params: { id: copy.id } })
        }}
      >
        A copy with a new ID is sent to:
        <ul aria-label="Recipients of the copy" className="my-2 flex flex-col gap-1">
          {unreached.slice(0, MAX_LISTED).map(({ address, kind, status }) => (
            <li key={`${kind} ${address}`} className="flex items-center gap-2">
              <UntrustedText className="min-w-0 truncate text-ink" text={address} />
              <StatusBadge status={status} />
            </li>
          ))}
        </ul>
        {unreached.length > MAX_LISTED ? `And ${unreached.length - MAX_LISTED} more. ` : ""}
        {inProgress === 0
          ? ""
          : inProgress === 1
            ? "One recipient is left out, because this email is still being sent to them. "
            : `${inProgress} recipients are left out, because this email is still being sent to them. `}
        {unreached.some(({ status }) => status === "suppressed")
          ? "Addresses that are still suppressed do not receive it."
          : ""}
      </ConfirmDialog>
      <Dialog open={(scheduling || reschedule) && canReschedule} onClose={close} title="Reschedule email">
        <Reschedule
          email={email}
          onDone={() => {
            close()
            onChanged()
          }}
        />
      </Dialog>
    </>
  )
}

const Reschedule = ({ email, onDone }: { readonly email: EmailWithContent; readonly onDone: () => void }) => {
  const change = (scheduled_at: string) => Api.patch(`/email/${email.id}`, { scheduled_at })
  const form = useForm({
    initial: { scheduled_at: "" },
    send: ({ scheduled_at }) => change(new Date(scheduled_at).toISOString()),
    onSent: () => {
      onDone()
      const previous = email.scheduled_at
      const undo = previous === null ? undefined : () => void change(previous).then(onDone, showError)
      showToast("Email rescheduled.", undo)
    },
  })
  const submit = () => (form.values.scheduled_at === "" ? undefined : form.submit())
  return (
    <DialogForm submit="Reschedule" form={{ ...form, submit }} onCancel={onDone}>
      <TextField
        label="Send at"
        type="datetime-local"
        required
        hint="In your time zone, at most 30 days ahead."
        {...form.input("scheduled_at")}
      />
    </DialogForm>
  )
}
