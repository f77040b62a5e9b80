import { useNavigate } from "@tanstack/react-router"
import { ScrollText } from "lucide-react"
import { useHasScope } from "./useHasScope.ts"
import type { MenuItem } from "../ui/controls/Menu.tsx"

/** Menu item that shows the changes of a record in the audit log; none for somebody who may not see that. */
export const useHistoryItem = (id: string): ReadonlyArray<MenuItem> => {
  const navigate = useNavigate()
  if (!useHasScope("admin")) return []
  const onSelect = () => void navigate({ to: "/settings/audit", search: { q: id } })
  return [{ name: "History", icon: <ScrollText size={15} />, onSelect }]
}
