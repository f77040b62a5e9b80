import { Link as LinkIcon, ShieldCheck, UserMinus } from "lucide-react"
import type { Member, Role } from "../api/Records.ts"
import { useSession } from "../session/useSession.ts"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { CellSelect } from "../ui/controls/Field.tsx"
import { MoreMenu } from "../ui/controls/Menu.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import type { Column } from "../ui/layout/Table.tsx"
import * as Roles from "./Roles.ts"

interface Actions {
  readonly onLink: (member: Member) => void
  readonly onRemove: (member: Member) => void
  readonly onRole: (member: Member, role: Role) => void
}

export const columnsOf = ({ onRole, ...actions }: Actions): ReadonlyArray<Column<Member>> => [
  { name: "Member", main: true, cell: (member) => <MemberName member={member} /> },
  { name: "Last seen", wide: true, cell: (member) => <LastSeen member={member} /> },
  {
    name: "Role",
    cell: (member) => (
      <CellSelect
        label={`Role of ${member.email}`}
        value={member.role}
        onChange={(event) => onRole(member, event.target.value as Role)}
        options={Roles.OPTIONS}
      />
    ),
  },
  { name: "Actions", hiddenName: true, number: true, cell: (member) => <MemberMenu member={member} {...actions} /> },
]

const MemberName = ({ member }: { readonly member: Member }) => {
  const { user } = useSession()
  const name = member.name === "" ? member.email : member.name
  return (
    <div className="flex items-center gap-3">
      <span
        aria-hidden
        className="flex size-8 shrink-0 items-center justify-center rounded-full bg-neutral-soft text-xs font-semibold text-neutral uppercase"
      >
        {name.slice(0, 1)}
      </span>
      <div className="min-w-0">
        <p className="flex items-center gap-2 font-medium">
          <UntrustedText className="truncate" text={name} />
          {member.id === user.id ? <Badge>You</Badge> : undefined}
          {member.two_factor ? (
            <span title="Uses two-factor authentication or a passkey">
              <ShieldCheck size={14} className="text-good" aria-label="Two-factor authentication" />
            </span>
          ) : undefined}
        </p>
        <UntrustedText as="p" className="truncate text-xs text-ink-3" text={member.email} />
        <p className="mt-0.5 text-xs text-ink-3 sm:hidden">
          <LastSeen member={member} label="Last seen " />
        </p>
      </div>
    </div>
  )
}

const LastSeen = ({
  label = "",
  member: { last_seen_at, status },
}: {
  readonly member: Member
  readonly label?: string
}) =>
  status === "invited" ? (
    <StatusBadge status="invited" />
  ) : last_seen_at === null ? (
    "–"
  ) : (
    <span className="text-xs whitespace-nowrap text-ink-3">
      {label}
      <RelativeTime iso={last_seen_at} />
    </span>
  )

const MemberMenu = ({ member, onLink, onRemove }: { readonly member: Member } & Omit<Actions, "onRole">) => {
  const { session, user } = useSession()
  const isInvited = member.status === "invited"
  // For active members only operators can create a link, because it replaces the password.
  const canCreateLink = isInvited || (session.operator && member.id !== user.id)
  return (
    <MoreMenu
      label={`Actions for ${member.email}`}
      items={[
        canCreateLink && {
          name: isInvited ? "Create invitation link" : "Create password reset link",
          icon: <LinkIcon size={15} />,
          onSelect: () => onLink(member),
        },
        canCreateLink && "separator",
        { name: "Remove member", icon: <UserMinus size={15} />, danger: true, onSelect: () => onRemove(member) },
      ]}
    />
  )
}
