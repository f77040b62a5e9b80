import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link as LinkIcon, MoreHorizontal, ShieldCheck, UserMinus, UserPlus } from "lucide-react"
import { useState } from "react"
import { ahead, takeBack } from "../api/OptimisticUpdate.ts"
import * as queries from "../api/Queries.ts"
import type { Member, MemberLink, Page, Role } from "../api/Records.ts"
import { patch, post, Refused, remove } from "../api/Api.ts"
import { useSession } from "../shell/useSession.ts"
import { Badge, State } from "../ui/display/Badge.tsx"
import { Button, IconButton } from "../ui/controls/Button.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"
import { Confirm, Dialog, DialogForm } from "../ui/feedback/Dialog.tsx"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { SelectField, TextField } from "../ui/controls/Field.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { Panel, Screen, SkeletonRows } from "../ui/layout/Screen.tsx"
import { exactly, Time } from "../ui/display/Time.tsx"
import { complain, say } from "../ui/feedback/Toasts.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const ROLES: ReadonlyArray<readonly [role: Role, meaning: string]> = [
  ["owner", "Everything, members and keys included"],
  ["member", "Sends, and manages domains and webhooks"],
  ["viewer", "Sees mail and domains, changes nothing"],
]

export const Members = () => {
  const client = useQueryClient()
  const query = useQuery(queries.members)
  const [inviting, setInviting] = useState(false)
  const [link, setLink] = useState<MemberLink>()
  const [removing, setRemoving] = useState<Member>()
  const refresh = () => client.invalidateQueries({ queryKey: ["members"] })
  const makeLink = useMutation({
    mutationFn: (member: Member) => post<MemberLink>(`/members/${member.id}/link`),
    onSuccess: setLink,
    onError: complain,
  })
  const changeRole = useMutation({
    mutationFn: ({ member, role }: { readonly member: Member; readonly role: Role }) =>
      patch(`/members/${member.id}`, { role }),
    onMutate: ({ member, role }) =>
      ahead<Page<Member>>(client, queries.members.queryKey, (page) => ({
        ...page,
        data: page.data.map((each) => (each.id === member.id ? { ...each, role } : each)),
      })),
    onSuccess: (_, { member, role }) => {
      void refresh()
      say(`${member.email} is ${role} now.`, () =>
        changeRole.mutate({ member: { ...member, role }, role: member.role }),
      )
    },
    onError: takeBack,
  })
  return (
    <Screen
      title="Members"
      hint="People who sign in to this account. A lost password is reset by an operator."
      actions={
        <Button look="solid" icon={<UserPlus size={15} />} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      <Panel>
        {query.isPending ? (
          <SkeletonRows rows={3} />
        ) : query.isError ? (
          <div className="p-4">
            <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
          </div>
        ) : (
          <ul className="divide-y divide-line">
            {query.data.data.map((member) => (
              <One
                key={member.id}
                member={member}
                onLink={() => makeLink.mutate(member)}
                onRemove={() => setRemoving(member)}
                onRole={(role) => changeRole.mutate({ member, role })}
              />
            ))}
          </ul>
        )}
      </Panel>
      <Dialog
        open={inviting}
        onOpenChange={setInviting}
        title="Invite a member"
        description="You get a link to hand over; with it they choose a password."
      >
        <Invite
          onCancel={() => setInviting(false)}
          onInvited={(invited) => {
            setInviting(false)
            setLink(invited)
            void refresh()
          }}
        />
      </Dialog>
      <Dialog
        open={link !== undefined}
        onOpenChange={(open) => {
          if (!open) setLink(undefined)
        }}
        sticky
        title={`A link for ${link?.member.email ?? ""}`}
        description="It is shown this once. Hand it over on a way that you trust: whoever opens it sets the password."
      >
        <div className="flex flex-col gap-4 p-5">
          <CopyField text={link?.url ?? ""} label="Copy the link" />
          <p className="text-xs text-ink-3">Good once, until {link === undefined ? "" : exactly(link.expires_at)}.</p>
          <footer className="flex justify-end">
            <Button look="solid" onClick={() => setLink(undefined)}>
              Done
            </Button>
          </footer>
        </div>
      </Dialog>
      <Confirm
        open={removing !== undefined}
        onOpenChange={(open) => {
          if (!open) setRemoving(undefined)
        }}
        title={`Remove ${removing?.email ?? ""}?`}
        action="Remove"
        onConfirm={async () => {
          await remove(`/members/${removing?.id ?? ""}`)
          await refresh()
          say("Removed.")
        }}
      >
        Their sessions end at once. What they did stays in the audit log, and the keys they made keep working.
      </Confirm>
    </Screen>
  )
}

interface OneProps {
  readonly member: Member
  readonly onLink: () => void
  readonly onRemove: () => void
  readonly onRole: (role: Role) => void
}

const One = ({ member, onLink, onRemove, onRole }: OneProps) => {
  const { may, user } = useSession()
  const isInvited = member.status === "invited"
  // The server refuses the others: a link would take over a sign-in that is in use.
  const mayLink = isInvited || (may.operator && member.id !== user.id)
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <span
        aria-hidden
        className="flex size-8 items-center justify-center rounded-full bg-calm-soft text-xs font-semibold text-calm uppercase"
      >
        {(member.name === "" ? member.email : member.name).slice(0, 1)}
      </span>
      <div className="min-w-0 grow">
        <p className="flex items-center gap-2 text-sm font-medium">
          <span className="truncate">
            <Foreign text={member.name === "" ? member.email : member.name} />
          </span>
          {member.id === user.id ? <Badge>You</Badge> : undefined}
          {member.two_factor ? (
            <span title="Signs in with a second factor or a passkey">
              <ShieldCheck size={14} className="text-good" aria-label="second factor" />
            </span>
          ) : undefined}
        </p>
        <p className="truncate text-xs text-ink-3">
          <Foreign text={member.email} />
        </p>
      </div>
      {isInvited ? (
        <State state="invited" />
      ) : (
        <span className="text-xs text-ink-3">
          {member.last_seen_at === null ? (
            ""
          ) : (
            <>
              seen <Time iso={member.last_seen_at} />
            </>
          )}
        </span>
      )}
      <label>
        <span className="sr-only">Role of {member.email}</span>
        <select
          value={member.role}
          onChange={(event) => onRole(event.target.value as Role)}
          className="h-8 rounded-lg border border-line-strong bg-raised px-2 text-sm capitalize"
        >
          {ROLES.map(([role]) => (
            <option key={role} value={role}>
              {role}
            </option>
          ))}
        </select>
      </label>
      <Menu
        trigger={
          <IconButton label={`More for ${member.email}`}>
            <MoreHorizontal size={16} />
          </IconButton>
        }
        items={[
          ...(mayLink
            ? [
                {
                  name: isInvited ? "Create a new invitation link" : "Create a password reset link",
                  icon: <LinkIcon size={15} />,
                  onSelect: onLink,
                },
                "line" as const,
              ]
            : []),
          { name: "Remove", icon: <UserMinus size={15} />, danger: true, onSelect: onRemove },
        ]}
      />
    </li>
  )
}

const Invite = ({
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
      post<MemberLink>("/members", { email: email.trim(), name: name.trim() === "" ? null : name.trim(), role }),
    onSuccess: onInvited,
  })
  const refused = invite.error instanceof Refused ? invite.error : undefined
  return (
    <DialogForm
      submit="Invite"
      busy={invite.isPending}
      error={invite.error}
      onCancel={onCancel}
      onSubmit={() => invite.mutate()}
    >
      <TextField
        label="Email"
        type="email"
        autoFocus
        required
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        problem={refused?.of("email")}
      />
      <TextField
        label="Name"
        hint="May stay empty."
        value={name}
        onChange={(event) => setName(event.target.value)}
        problem={refused?.of("name")}
      />
      <SelectField
        label="Role"
        value={role}
        hint={ROLES.find(([each]) => each === role)?.[1]}
        onChange={(event) => setRole(event.target.value as Role)}
      >
        {ROLES.map(([each]) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </SelectField>
    </DialogForm>
  )
}
