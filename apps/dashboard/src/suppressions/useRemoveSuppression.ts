import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query"
import * as OptimisticUpdate from "../ui/feedback/OptimisticUpdate.ts"
import * as Queries from "../api/Queries.ts"
import type { Suppression } from "../api/Records.ts"
import * as Api from "../api/Api.ts"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"

/** Removes a suppression, with Undo. Used by the list, because a row unmounts as soon as it is removed. */
export const useRemoveSuppression = (listKey: QueryKey) => {
  const client = useQueryClient()
  const refresh = () => client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
  const restore = useMutation({
    mutationFn: ({ email, reason }: Suppression) => Api.post("/suppressions", { email, reason }),
    onSuccess: refresh,
    onError: showError,
  })
  return useMutation({
    mutationFn: ({ email }: Suppression) => Api.remove(`/suppressions/${encodeURIComponent(email)}`),
    onMutate: ({ id }) => OptimisticUpdate.apply(client, listKey, OptimisticUpdate.withoutRow<Suppression>(id)),
    onSuccess: (_, suppression) => {
      void refresh()
      showToast(`Suppression of ${suppression.email} removed.`, () => restore.mutate(suppression))
    },
    onError: OptimisticUpdate.rollBack,
  })
}
