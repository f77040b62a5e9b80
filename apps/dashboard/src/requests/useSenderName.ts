import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import type { Request } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { useKeyNames } from "./useKeyNames.ts"

/** Returns a function that names the key or the member by whom a request was sent. */
export const useSenderName = (): ((request: Pick<Request, "api_key_id" | "user_id">) => string) => {
  const keyNames = useKeyNames()
  const members = useQuery({ ...Queries.members, enabled: useHasScope("admin") }).data?.data ?? []
  return ({ api_key_id, user_id }) => {
    if (api_key_id !== null) return keyNames.get(api_key_id) ?? "API key"
    const member = members.find(({ id }) => id === user_id)
    return member === undefined ? "Dashboard" : member.name || member.email
  }
}
