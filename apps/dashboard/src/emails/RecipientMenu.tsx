import { useNavigate } from "@tanstack/react-router"
import { Ban, Copy, Mail } from "lucide-react"
import { useHasScope } from "../session/useHasScope.ts"
import { useSuppress } from "../session/useSuppress.ts"
import { copy } from "../ui/controls/CopyButton.tsx"
import { MoreMenu } from "../ui/controls/Menu.tsx"

interface Props {
  readonly address: string
  readonly isSuppressed: boolean
}

/** Actions on a recipient: see its mail, suppress it, copy it. */
export const RecipientMenu = ({ address, isSuppressed }: Props) => {
  const navigate = useNavigate()
  const canSuppress = useHasScope("suppressions:write")
  const suppress = useSuppress()
  return (
    <MoreMenu
      label={`Actions for ${address}`}
      items={[
        {
          name: "Mail to this address",
          icon: <Mail size={15} />,
          onSelect: () => void navigate({ to: "/emails", search: { search: `to:${address}` } }),
        },
        isSuppressed
          ? {
              name: "View suppression",
              icon: <Ban size={15} />,
              onSelect: () => void navigate({ to: "/suppressions", search: { q: address } }),
            }
          : canSuppress && { name: "Suppress address", icon: <Ban size={15} />, onSelect: () => suppress(address) },
        { name: "Copy address", icon: <Copy size={15} />, onSelect: () => void copy(address) },
      ]}
    />
  )
}
