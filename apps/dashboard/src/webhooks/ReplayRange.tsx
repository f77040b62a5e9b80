import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"

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
  const [after, setAfter] = useState("")
  const [before, setBefore] = useState("")
  const replay = useMutation({
    mutationFn: () =>
      replayAll(webhookId, {
        created_after: new Date(after).toISOString(),
        created_before: new Date(before).toISOString(),
      }),
    onSuccess: (deliveries) => {
      showToast(deliveries === 1 ? "1 delivery queued." : `${deliveries} deliveries queued.`)
      onDone()
    },
  })
  const errors = useFormErrors(replay.error, { created_after: after, created_before: before })
  const begin = () => (after === "" || before === "" ? undefined : replay.mutate())
  return (
    <DialogForm
      submit="Replay"
      error={errors.form}
      onCancel={onDone}
      work={{ isPending: replay.isPending, mutate: begin }}
    >
      <TextField
        label="From"
        error={errors.field.created_after}
        type="datetime-local"
        required
        value={after}
        onChange={(event) => setAfter(event.target.value)}
      />
      <TextField
        label="To"
        error={errors.field.created_before}
        type="datetime-local"
        required
        value={before}
        onChange={(event) => setBefore(event.target.value)}
      />
    </DialogForm>
  )
}
