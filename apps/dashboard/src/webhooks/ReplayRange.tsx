import * as Api from "../api/Api.ts"
import { TextField, useForm } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import { DialogForm } from "../ui/feedback/Dialog.tsx"

interface ReplayPage {
  readonly queued: number
  readonly next_position: string | null
}

/** Replays a time range. The API replays a limited number of events per request, so this repeats until the range is done. */
const replayAll = async (webhookId: string, range: { created_after: string; created_before: string }) => {
  let deliveries = 0
  let after_position: string | null = null
  do {
    const { next_position, queued }: ReplayPage = await Api.post(`/webhooks/${webhookId}/replay`, {
      ...range,
      after_position,
    })
    deliveries += queued
    after_position = next_position
  } while (after_position !== null)
  return deliveries
}

export const ReplayRange = ({ onDone, webhookId }: { readonly webhookId: string; readonly onDone: () => void }) => {
  const form = useForm({
    initial: { created_after: "", created_before: "" },
    send: ({ created_after, created_before }) =>
      replayAll(webhookId, {
        created_after: new Date(created_after).toISOString(),
        created_before: new Date(created_before).toISOString(),
      }),
    onSent: (deliveries) => {
      showToast(deliveries === 1 ? "1 delivery queued." : `${deliveries} deliveries queued.`)
      onDone()
    },
  })
  const isIncomplete = Object.values(form.values).includes("")
  const submit = () => (isIncomplete ? undefined : form.submit())
  return (
    <DialogForm submit="Replay" form={{ ...form, submit }} onCancel={onDone}>
      <TextField label="From" type="datetime-local" required {...form.input("created_after")} />
      <TextField label="To" type="datetime-local" required {...form.input("created_before")} />
    </DialogForm>
  )
}
