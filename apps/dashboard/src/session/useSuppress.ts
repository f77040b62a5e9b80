import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useCallback } from "react"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { useHasScope } from "./useHasScope.ts"

/** Returns a function that suppresses an address at once, with Undo. */
export const useSuppress = (): ((address: string) => void) => {
  const client = useQueryClient()
  return useCallback(
    (address) => {
      const change = (work: () => Promise<void>) =>
        void work()
          .catch(showError)
          .finally(() => void client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS }))
      change(async () => {
        const { email } = await Api.post<Suppression>("/suppressions", { email: address, reason: "manual" })
        const undo = async () => {
          await Api.remove(`/suppressions/${encodeURIComponent(email)}`)
          showToast(`${email} receives mail again.`)
        }
        showToast(`${email} suppressed: no more mail, scheduled mail included.`, () => change(undo))
      })
    },
    [client],
  )
}

/** The suppression of an address, for roles that see it: null if there is none, undefined while it is not known. */
export const useSuppressionOf = (address: string | undefined, isAsked = true): Suppression | null | undefined => {
  const canRead = useHasScope("suppressions:read")
  const enabled = address !== undefined && isAsked && canRead
  return useQuery({ ...Queries.suppressionOf(address ?? ""), enabled }).data
}
