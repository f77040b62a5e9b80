import type { ReactNode } from "react"
import { cx } from "../display/cx.ts"
import { ErrorMessage } from "../feedback/ErrorMessage.tsx"
import { SkeletonRows } from "../feedback/Skeleton.tsx"
import { Panel } from "./Screen.tsx"

interface Props<A> {
  readonly query: { readonly data: A | undefined; readonly error: Error | null; readonly refetch: () => unknown }
  /** Rows of the placeholder. */
  readonly rows?: number
  /** Whether it stands in a panel already. */
  readonly isInPanel?: boolean
  readonly children: (data: A) => ReactNode
}

/** The data of a query, or a placeholder while it loads. An error stands above what was read before it. */
export const QueryResult = <A,>({ children, isInPanel = false, query, rows = 4 }: Props<A>) => {
  const { data, error } = query
  const placeholder = <SkeletonRows rows={rows} />
  return (
    <>
      <ErrorMessage error={error} onRetry={() => void query.refetch()} className={cx(isInPanel && "m-4")} />
      {data !== undefined ? (
        children(data)
      ) : error !== null ? undefined : isInPanel ? (
        placeholder
      ) : (
        <Panel>{placeholder}</Panel>
      )}
    </>
  )
}
