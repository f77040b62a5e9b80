import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { showToast } from "../ui/feedback/Toasts.tsx"

export const AddSuppression = ({ onDone }: { readonly onDone: () => void }) => {
  const client = useQueryClient()
  const [email, setEmail] = useState("")
  const add = useMutation({
    mutationFn: () => Api.post<Suppression>("/suppressions", { email: email.trim() }),
    onSuccess: ({ email: added }) => {
      void client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
      showToast(`${added} added to suppressions.`)
      onDone()
    },
  })
  const errors = useFormErrors(add.error, { email })
  return (
    <DialogForm submit="Add" busy={add.isPending} error={errors.form} onCancel={onDone} onSubmit={() => add.mutate()}>
      <TextField
        label="Email address"
        type="email"
        autoFocus
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={errors.field.email}
      />
    </DialogForm>
  )
}
