import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { SelectField, TextField } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"
import * as SuppressionReason from "../ui/display/SuppressionReason.ts"

interface Props {
  /** The address that is offered. */
  readonly address: string | undefined
  readonly onDone: () => void
}

export const AddSuppression = ({ address = "", onDone }: Props) => {
  const client = useQueryClient()
  const [email, setEmail] = useState(address)
  const [reason, setReason] = useState<Suppression["reason"]>("manual")
  const add = useMutation({
    mutationFn: () => Api.post<Suppression>("/suppressions", { email: email.trim(), reason }),
    onSuccess: ({ email: added }) => {
      void client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
      showToast(`${added} added to suppressions.`)
      onDone()
    },
  })
  const errors = useFormErrors(add.error, { email })
  return (
    <DialogForm submit="Add" work={add} error={errors.form} onCancel={onDone}>
      <TextField
        label="Email address"
        type="email"
        autoFocus
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={errors.field.email}
      />
      <SelectField
        label="Reason"
        value={reason}
        onChange={(event) => setReason(event.target.value as Suppression["reason"])}
      >
        {Object.entries(SuppressionReason.NAMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </SelectField>
    </DialogForm>
  )
}
