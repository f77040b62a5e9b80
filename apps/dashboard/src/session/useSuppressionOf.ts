import { useQuery } from "@tanstack/react-query"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import { useHasScope } from "./useHasScope.ts"

/** The suppression of an address, for roles that see it: null if there is none, undefined while it is not known. */
export const useSuppressionOf = (address: string | undefined, isAsked = true): Suppression | null | undefined => {
  const canRead = useHasScope("suppressions:read")
  const enabled = address !== undefined && isAsked && canRead
  return useQuery({ ...Queries.suppressionOf(address ?? ""), enabled }).data
}
