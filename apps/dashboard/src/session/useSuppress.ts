import { useQueryClient } from "@tanstack/react-query"
import { useCallback } from "react"
import * as Api from "../api/Api.ts"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"

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
