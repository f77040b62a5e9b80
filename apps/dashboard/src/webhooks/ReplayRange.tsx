import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { post } from "../api/request.ts"
import { DialogForm } from "../ui/Dialog.tsx"
import { TextField } from "../ui/Field.tsx"
import { say } from "../ui/Toasts.tsx"

interface Replay {
  readonly queued: number
  readonly has_more: boolean
}

export const ReplayRange = ({ onDone, webhookId }: { readonly webhookId: string; readonly onDone: () => void }) => {
  const [after, setAfter] = useState("")
  const [before, setBefore] = useState("")
  const replay = useMutation({
    mutationFn: () =>
      post<Replay>(`/webhooks/${webhookId}/replay`, {
        created_after: new Date(after).toISOString(),
        created_before: new Date(before).toISOString(),
      }),
    onSuccess: ({ has_more, queued }) => {
      say(`${queued} calls are queued${has_more ? "; more lie in that stretch than one replay takes" : ""}.`)
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
