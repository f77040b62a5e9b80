import { SearchX } from "lucide-react"
import type { ReactNode } from "react"
import { Button } from "../controls/Button.tsx"
import { EmptyState } from "./EmptyState.tsx"

interface Props {
  /** The records of the list, in the plural. */
  readonly name: string
  readonly onClear: () => void
  readonly children?: ReactNode
}

/** Shown for a list of which no row matches the filters. */
export const NoMatches = ({ children = "Change or clear the filters to see more.", name, onClear }: Props) => (
  <EmptyState
    icon={<SearchX size={20} />}
    title={`No ${name} match your filters`}
    action={<Button onClick={onClear}>Clear filters</Button>}
  >
    {children}
  </EmptyState>
)
