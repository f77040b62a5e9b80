import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "../session/useHasScope.ts"

/** Names of the account's API keys by id; empty for users who may not see keys, and while they are not wanted. */
export const useKeyNames = (isWanted = true): ReadonlyMap<string, string> => {
  const canSeeKeys = useHasScope("admin")
  const keys = useQuery({ ...Queries.apiKeys, enabled: canSeeKeys && isWanted })
  return new Map((keys.data?.data ?? []).map(({ id, name }) => [id as string, name as string]))
}
