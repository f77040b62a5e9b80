import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { UserPlus } from "lucide-react"
import { useState } from "react"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import * as Queries from "../api/Queries.ts"
import type { Member, MemberLink, Page, Role } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { Button } from "../ui/controls/Button.tsx"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { Table } from "../ui/layout/Table.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { columnsOf } from "./MemberColumns.tsx"
import { RowsPanel } from "../ui/layout/RowsPanel.tsx"
import { LinkOnce } from "./LinkOnce.tsx"
import { useListSearch } from "../ui/layout/useListSearch.ts"
import { SelectField, TextField, useForm } from "../ui/controls/Field.tsx"
import * as Roles from "./Roles.ts"

export const Members = () => {
  const client = useQueryClient()
  const query = useQuery(Queries.members)
  const { isCreating, setCreating } = useListSearch()
  const [link, setLink] = useState<MemberLink>()
  const [removing, setRemoving] = useState<Member>()
  const refresh = () => client.invalidateQueries({ queryKey: ["members"] })
  const makeLink = useMutation({
    mutationFn: (member: Member) => Api.post<MemberLink>(`/members/${member.id}/link`),
    onSuccess: setLink,
    onError: showError,
  })
  const changeRole = useMutation({
    mutationFn: ({ member, role }: { readonly member: Member; readonly role: Role }) =>
      Api.patch(`/members/${member.id}`, { role }),
    onMutate: ({ member, role }) =>
      OptimisticUpdate.apply<Page<Member>>(client, Queries.members.queryKey, (page) => ({
        ...page,
        data: page.data.map((each) => (each.id === member.id ? { ...each, role } : each)),
      })),
    onSuccess: (_, { member, role }) => {
      void refresh()
      showToast(`${member.email} is now ${role}.`, () =>
        changeRole.mutate({ member: { ...member, role }, role: member.role }),
      )
    },
    onError: OptimisticUpdate.rollBack,
  })
  return (
    <Screen
      title="Members"
      hint="People who can sign in to this account. Operators reset lost passwords."
      actions={
        <Button variant="primary" icon={<UserPlus size={15} />} onClick={() => setCreating(true)}>
          Invite member
        </Button>
      }
    >
      <RowsPanel query={query} rows={query.data?.data ?? []}>
        {(rows) => (
          <Table
            label="Members"
            rows={rows}
            keyOf={({ id }) => id}
            columns={columnsOf({
              onLink: makeLink.mutate,
              onRemove: setRemoving,
              onRole: (member, role) => changeRole.mutate({ member, role }),
            })}
          />
        )}
      </RowsPanel>
      <Dialog
        open={isCreating}
        onClose={() => setCreating(false)}
        title="Invite a member"
        description="You get an invitation link to share with them."
      >
        <InviteMember
          onCancel={() => setCreating(false)}
          onInvited={(invited) => {
            setCreating(false)
            setLink(invited)
            void refresh()
          }}
        />
      </Dialog>
      <Dialog
        open={link !== undefined}
        onClose={() => setLink(undefined)}
        requiresClose
        title={`Link for ${link?.member.email ?? ""}`}
        description="Share it over a secure channel: anyone with the link can set the password. It is shown only once."
      >
        {link === undefined ? undefined : <LinkOnce link={link} onDone={() => setLink(undefined)} />}
      </Dialog>
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Remove ${removing?.email ?? ""}?`}
        action="Remove member"
        onConfirm={async () => {
          await Api.remove(`/members/${removing?.id ?? ""}`)
          await refresh()
          showToast("Member removed.")
        }}
      >
        They are signed out immediately. Their changes stay in the audit log, and API keys they created keep working.
      </ConfirmDialog>
    </Screen>
  )
}

interface Props {
  readonly onInvited: (link: MemberLink) => void
  readonly onCancel: () => void
}

const InviteMember = ({ onCancel, onInvited }: Props) => {
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
