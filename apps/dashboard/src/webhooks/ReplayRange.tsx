import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { post } from "../api/Api.ts"
import { DialogForm } from "../ui/feedback/Dialog.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { say } from "../ui/feedback/Toasts.tsx"

interface Replay {
  readonly queued: number
  readonly next_position: string | null
}

/** One replay takes so many events; the next goes on where it ended. */
const replayAll = async (webhookId: string, range: { created_after: string; created_before: string }) => {
  let calls = 0
  let after_position: string | null = null
  do {
    const { next_position, queued }: Replay = await post(`/webhooks/${webhookId}/replay`, { ...range, after_position })
    calls += queued
    after_position = next_position
  } while (after_position !== null)
  return calls
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
    onSuccess: (calls) => {
      say(`${calls} calls are queued.`)
      onDone()
    },
  })
  return (
    <DialogForm
      submit="Replay"
      busy={replay.isPending}
      error={replay.error}
      onCancel={onDone}
      onSubmit={() => {
        if (after !== "" && before !== "") replay.mutate()
      }}
    >
      <TextField
        label="From"
        type="datetime-local"
        required
        value={after}
        onChange={(event) => setAfter(event.target.value)}
      />
      <TextField
        label="To"
        type="datetime-local"
        required
        value={before}
        onChange={(event) => setBefore(event.target.value)}
      />
    </DialogForm>
  )
}
