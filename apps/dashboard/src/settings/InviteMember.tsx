import type { MemberLink, Role } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { DialogForm } from "../ui/feedback/DialogForm.tsx"
import { SelectField, TextField } from "../ui/controls/Field.tsx"
import * as Roles from "./Roles.ts"
import { useForm } from "../ui/controls/useForm.ts"

interface Props {
  readonly onInvited: (link: MemberLink) => void
  readonly onCancel: () => void
}

export const InviteMember = ({ onCancel, onInvited }: Props) => {
  const form = useForm({
    initial: { email: "", name: "", role: "member" as Role },
    send: ({ email, name, role }) =>
      Api.post<MemberLink>("/members", { email: email.trim(), name: name.trim() === "" ? null : name.trim(), role }),
    onSent: onInvited,
  })
  return (
    <DialogForm submit="Invite member" form={form} onCancel={onCancel}>
      <TextField label="Email" type="email" autoFocus required {...form.input("email")} />
      <TextField label="Name" hint="Optional." {...form.input("name")} />
      <SelectField
        label="Role"
        hint={Roles.ROLES.find(([each]) => each === form.values.role)?.[1]}
        options={Roles.OPTIONS}
        {...form.input("role")}
      />
    </DialogForm>
  )
}
