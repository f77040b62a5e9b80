import * as SearchDates from "@waybill/domain/search/SearchDates"
import { useQueryClient } from "@tanstack/react-query"
import { useCallback } from "react"
import * as Api from "../api/Api.ts"
import type { Email } from "../api/Records.ts"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"

/** Returns a function that makes the change of a scheduled email to another time, without a question, with Undo. */
export const useReschedule = (): ((email: Email, scheduled_at: string) => () => void) => {
  const client = useQueryClient()
  return useCallback(
    ({ id, scheduled_at: previous }, scheduled_at) => {
      const change = (at: string, undo?: () => void) =>
        void Api.patch(`/email/${id}`, { scheduled_at: at })
          .then(() => showToast(`Email scheduled for ${SearchDates.show(at)}.`, undo))
          .catch(showError)
          .finally(() => {
            void client.invalidateQueries({ queryKey: ["email", id] })
            void client.invalidateQueries({ queryKey: ["emails"] })
          })
      return () => change(scheduled_at, previous === null ? undefined : () => change(previous))
    },
    [client],
  )
}
