import type { ReactNode } from "react"
import { ErrorMessage } from "../feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../feedback/Skeleton.tsx"
import { Panel } from "./Screen.tsx"

interface Props<Row> {
  readonly query: {
    readonly isPending: boolean
    readonly isError: boolean
    readonly error: Error | null
    readonly refetch: () => unknown
  }
  readonly rows: ReadonlyArray<Row>
  readonly isLoading?: boolean
  readonly empty?: ReactNode
  readonly children: (rows: ReadonlyArray<Row>) => ReactNode
}

/** The rows of a list, or what is there in their place: a placeholder, an error, or why there are none. */
export const RowsPanel = <Row,>({ children, empty, query, rows, isLoading = query.isPending }: Props<Row>) => (
  <Panel className="overflow-hidden">
    {isLoading ? (
      <SkeletonRows />
    ) : rows.length > 0 ? (
      children(rows)
    ) : query.isError ? (
      <ErrorMessage error={query.error} onRetry={() => void query.refetch()} className="m-4" />
    ) : (
      empty
    )}
  </Panel>
)
