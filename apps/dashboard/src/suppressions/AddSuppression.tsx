import { useQueryClient } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { SelectField, TextField, useForm } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import * as SuppressionReason from "../ui/display/SuppressionReason.ts"
import { DialogForm } from "../ui/feedback/Dialog.tsx"

interface Props {
  /** The address that is offered. */
  readonly address: string | undefined
  readonly onDone: () => void
}

export const AddSuppression = ({ address = "", onDone }: Props) => {
  const client = useQueryClient()
  const form = useForm({
    initial: { email: address, reason: "manual" as Suppression["reason"] },
    send: ({ email, reason }) => Api.post<Suppression>("/suppressions", { email: email.trim(), reason }),
    onSent: ({ email }) => {
      void client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
      showToast(`${email} added to suppressions.`)
      onDone()
    },
  })
  return (
    <DialogForm submit="Add" form={form} onCancel={onDone}>
      <TextField label="Email address" type="email" autoFocus required {...form.input("email")} />
      <SelectField label="Reason" options={Object.entries(SuppressionReason.NAMES)} {...form.input("reason")} />
    </DialogForm>
  )
}
