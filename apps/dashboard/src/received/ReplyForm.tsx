import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import type { InboundEmailWhole } from "../api/Records.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { TextArea, TextField } from "../ui/controls/Field.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"

interface Props {
  readonly mail: InboundEmailWhole
  readonly onDone: () => void
}

/** Writes an answer to a received mail, whose recipient, subject and thread follow from the mail. */
export const ReplyForm = ({ mail, onDone }: Props) => {
  const client = useQueryClient()
  const [from, setFrom] = useState(mail.envelope.to[0] ?? "")
  const [text, setText] = useState("")
  const send = useMutation({
    mutationFn: () => Api.post(`/inbound/${mail.id}/reply`, { from: from.trim(), text }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["received", mail.id] })
      void client.invalidateQueries({ queryKey: ["threads", mail.thread_id] })
      onDone()
    },
  })
  const errors = useFormErrors(send.error, { from, text })
  return (
    <DialogForm submit="Send reply" work={send} error={errors.form} onCancel={onDone}>
      <TextField
        label="From"
        hint="An address of one of your verified domains."
        required
        value={from}
        onChange={(event) => setFrom(event.target.value)}
        error={errors.field.from}
      />
      <TextArea
        label="Message"
        autoFocus
        required
        className="min-h-48"
        value={text}
        onChange={(event) => setText(event.target.value)}
        error={errors.field.text}
      />
    </DialogForm>
  )
}
