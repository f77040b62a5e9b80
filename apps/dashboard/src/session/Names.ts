import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import type { Page, Request, Scope } from "../api/Records.ts"
import { useHasScope } from "./useHasScope.ts"
import { useSession } from "./useSession.ts"

export type Names = ReadonlyMap<string, string>

interface Named {
  readonly id: string
  readonly name: string
  readonly email?: string
}

type Listed<A> = ReturnType<typeof Queries.read<Page<A>>>

/** Names of the records of a list by their ids; empty for users who may not see it, and while they are not wanted. */
const useNames = <A extends Named>(query: Listed<A>, scope: Scope, isWanted = true): Names => {
  const { data } = useQuery({ ...query, enabled: useHasScope(scope) && isWanted })
  return new Map((data?.data ?? []).map(({ email = "", id, name }) => [id, name || email]))
}

export const useKeyNames = (isWanted = true): Names => useNames(Queries.apiKeys, "admin", isWanted)

/** Names of the account's newest templates. */
export const useTemplateNames = (): Names => useNames(Queries.templates, "templates:read")

/** Names of members: all for somebody who may list them, otherwise only the own one. */
export const useMemberNames = (): Names => {
  const { user } = useSession()
  return new Map([[user.id, user.name || user.email], ...useNames(Queries.members, "admin")])
}

/** Returns a function that names the key or the member by whom a request was sent. */
export const useSenderName = (): ((request: Pick<Request, "api_key_id" | "user_id">) => string) => {
  const keys = useKeyNames()
  const members = useNames(Queries.members, "admin")
  return ({ api_key_id, user_id }) =>
    api_key_id === null ? (members.get(user_id ?? "") ?? "Dashboard") : (keys.get(api_key_id) ?? "API key")
}
