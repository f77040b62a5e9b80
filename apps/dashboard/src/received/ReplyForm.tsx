import { useQueryClient } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import type { InboundEmailWhole } from "../api/Records.ts"
import { TextArea, TextField } from "../ui/controls/Field.tsx"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { useForm } from "../ui/controls/useForm.ts"

interface Props {
  readonly mail: InboundEmailWhole
  readonly onDone: () => void
}

/** Writes an answer to a received mail, whose recipient, subject and thread follow from the mail. */
export const ReplyForm = ({ mail, onDone }: Props) => {
  const client = useQueryClient()
  const form = useForm({
    initial: { from: mail.envelope.to[0] ?? "", text: "" },
    send: ({ from, text }) => Api.post(`/inbound/${mail.id}/reply`, { from: from.trim(), text }),
    onSent: () => {
      void client.invalidateQueries({ queryKey: ["received", mail.id] })
      void client.invalidateQueries({ queryKey: ["threads", mail.thread_id] })
      onDone()
    },
  })
  return (
    <DialogForm submit="Send reply" form={form} onCancel={onDone}>
      <TextField label="From" hint="An address of one of your verified domains." required {...form.input("from")} />
      <TextArea label="Message" autoFocus required className="min-h-48" {...form.input("text")} />
    </DialogForm>
  )
}
