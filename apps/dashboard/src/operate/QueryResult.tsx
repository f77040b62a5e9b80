import { useQuery, type UseQueryOptions } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ErrorNote } from "../ui/feedback/ErrorMessage.tsx"
import { Panel, SkeletonRows } from "../ui/layout/Screen.tsx"

/** What an operator asked for, once it is here. */
export const Loaded = <A, Key extends ReadonlyArray<unknown>>({
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
  if (query.isError) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />
  return children(query.data)
}
