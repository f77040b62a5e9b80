import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { useSession } from "../session/useSession.ts"

/** Names of members by id: all for somebody who may list them, otherwise only the own one. */
export const useMemberNames = (): ReadonlyMap<string, string> => {
  const { user } = useSession()
  const { data } = useQuery({ ...Queries.members, enabled: useHasScope("admin") })
  return new Map([
    [user.id, user.name || user.email],
    ...(data?.data ?? []).map(({ email, id, name }) => [id as string, name || email] as const),
  ])
}
