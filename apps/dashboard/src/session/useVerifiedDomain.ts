import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import { useHasScope } from "./useHasScope.ts"

/** Name of the first domain that is verified; undefined while it is not known, or if there is none. */
export const useVerifiedDomain = (): string | undefined => {
  const { data } = useQuery({ ...Queries.domains, enabled: useHasScope("domains:read") })
  return data?.data.find(({ status }) => status === "verified")?.name
}
