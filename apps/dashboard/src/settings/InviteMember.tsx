import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import type { MemberLink, Role } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { useFormErrors } from "../api/useFormErrors.ts"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { SelectField, TextField } from "../ui/controls/Field.tsx"
import * as Roles from "./Roles.ts"

export const InviteMember = ({
  onCancel,
  onInvited,
}: {
  readonly onInvited: (link: MemberLink) => void
  readonly onCancel: () => void
}) => {
  const [email, setEmail] = useState("")
  const [name, setName] = useState("")
  const [role, setRole] = useState<Role>("member")
  const invite = useMutation({
    mutationFn: () =>
      Api.post<MemberLink>("/members", { email: email.trim(), name: name.trim() === "" ? null : name.trim(), role }),
    onSuccess: onInvited,
  })
  const errors = useFormErrors(invite.error, { email, name })
  return (
    <DialogForm submit="Invite member" work={invite} error={errors.form} onCancel={onCancel}>
      <TextField
        label="Email"
        type="email"
        autoFocus
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={errors.field.email}
      />
      <TextField
        label="Name"
        hint="Optional."
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={errors.field.name}
      />
      <SelectField
        label="Role"
        value={role}
        hint={Roles.ROLES.find(([each]) => each === role)?.[1]}
        onChange={(event) => setRole(event.target.value as Role)}
      >
        {Roles.ROLES.map(([each]) => (
          <option key={each} value={each}>
            {Roles.nameOf(each)}
          </option>
        ))}
      </SelectField>
    </DialogForm>
  )
}
