import { useNavigate } from "@tanstack/react-router"
import { Ban, Copy, Mail, MoreHorizontal } from "lucide-react"
import { useHasScope } from "../session/useHasScope.ts"
import { IconButton } from "../ui/controls/Button.tsx"
import { copy } from "../ui/controls/CopyButton.tsx"
import { Menu } from "../ui/controls/Menu.tsx"

/** Actions on a recipient: see its mail, suppress it, copy it. */
export const RecipientMenu = ({
  address,
  isSuppressed,
}: {
  readonly address: string
  readonly isSuppressed: boolean
}) => {
  const navigate = useNavigate()
  const canSuppress = useHasScope("suppressions:write")
  const openSuppressions = (search: { readonly new?: true }) =>
    void navigate({ to: "/suppressions", search: { q: address, ...search } })
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for ${address}`}>
          <MoreHorizontal size={16} />
        </IconButton>
      }
      items={[
        {
          name: "Mail to this address",
          icon: <Mail size={15} />,
          onSelect: () => void navigate({ to: "/emails", search: { search: `to:${address}` } }),
        },
        ...(isSuppressed
          ? [{ name: "View suppression", icon: <Ban size={15} />, onSelect: () => openSuppressions({}) }]
          : canSuppress
            ? [{ name: "Suppress address", icon: <Ban size={15} />, onSelect: () => openSuppressions({ new: true }) }]
            : []),
        { name: "Copy address", icon: <Copy size={15} />, onSelect: () => void copy(address) },
      ]}
    />
  )
}
