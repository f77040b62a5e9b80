import { Link as LinkIcon, MoreHorizontal, ShieldCheck, UserMinus } from "lucide-react"
import type { Member, Role } from "../api/Records.ts"
import { useSession } from "../shell/useSession.ts"
import { Badge, StatusBadge } from "../ui/display/Badge.tsx"
import { IconButton } from "../ui/controls/Button.tsx"
import { Menu } from "../ui/controls/Menu.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import * as Roles from "./Roles.ts"

interface Props {
  readonly member: Member
  readonly onLink: () => void
  readonly onRemove: () => void
  readonly onRole: (role: Role) => void
}

export const MemberRow = ({ member, onLink, onRemove, onRole }: Props) => {
  const { session, user } = useSession()
  const isInvited = member.status === "invited"
  // For active members only operators can create a link, because it replaces the password.
  const canCreateLink = isInvited || (session.operator && member.id !== user.id)
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <span
        aria-hidden
        className="flex size-8 items-center justify-center rounded-full bg-neutral-soft text-xs font-semibold text-neutral uppercase"
      >
        {(member.name === "" ? member.email : member.name).slice(0, 1)}
      </span>
      <div className="min-w-0 grow max-sm:basis-[calc(100%-8rem)]">
        <p className="flex items-center gap-2 text-sm font-medium">
          <span className="truncate">
            <UntrustedText text={member.name === "" ? member.email : member.name} />
          </span>
          {member.id === user.id ? <Badge>You</Badge> : undefined}
          {member.two_factor ? (
            <span title="Uses two-factor authentication or a passkey">
              <ShieldCheck size={14} className="text-good" aria-label="Two-factor authentication" />
            </span>
          ) : undefined}
        </p>
        <p className="truncate text-xs text-ink-3">
          <UntrustedText text={member.email} />
        </p>
      </div>
      {isInvited ? (
        <span className="max-sm:order-2 max-sm:grow max-sm:pl-12">
          <StatusBadge status="invited" />
        </span>
      ) : (
        <span className="text-xs text-ink-3 max-sm:order-2 max-sm:grow max-sm:pl-12">
          {member.last_seen_at === null ? (
            ""
          ) : (
            <>
              Last seen <RelativeTime iso={member.last_seen_at} />
            </>
          )}
        </span>
      )}
      <label className="max-sm:order-2">
        <span className="sr-only">Role of {member.email}</span>
        <select
          value={member.role}
          onChange={(event) => onRole(event.target.value as Role)}
          className="h-8 rounded-lg border border-line-strong bg-raised px-2 text-sm capitalize"
        >
          {Roles.ROLES.map(([role]) => (
            <option key={role} value={role}>
              {role}
            </option>
          ))}
        </select>
      </label>
      <Menu
        trigger={
          <IconButton label={`Actions for ${member.email}`} className="max-sm:order-1">
            <MoreHorizontal size={16} />
          </IconButton>
        }
        items={[
          ...(canCreateLink
            ? [
                {
                  name: isInvited ? "Create invitation link" : "Create password reset link",
                  icon: <LinkIcon size={15} />,
                  onSelect: onLink,
                },
                "separator" as const,
              ]
            : []),
          { name: "Remove member", icon: <UserMinus size={15} />, danger: true, onSelect: onRemove },
        ]}
      />
    </li>
  )
}
