import { useQuery, type UseQueryOptions } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"
import { SkeletonRows } from "../ui/feedback/Skeleton.tsx"

/** Runs a query and renders its data, a placeholder while it loads, or its error. */
export const QueryResult = <A, Key extends ReadonlyArray<unknown>>({
  children,
  options,
}: {
  readonly options: UseQueryOptions<A, Error, A, Key>
  readonly children: (data: A) => ReactNode
}) => {
  const query = useQuery(options)
  if (query.isPending)
    return (
      <Panel>
        <SkeletonRows rows={4} />
      </Panel>
    )
  if (query.isError) return <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
  return children(query.data)
}
