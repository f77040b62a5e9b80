import { useQuery, useQueryClient } from "@tanstack/react-query"
import { RotateCw } from "lucide-react"
import { useState } from "react"
import * as Queries from "../api/Queries.ts"
import { Button } from "../ui/controls/Button.tsx"
import { BulkDialog } from "../ui/feedback/BulkDialog.tsx"
import type { Action } from "../ui/feedback/BulkSteps.ts"
import * as UnacceptedDeliveries from "./UnacceptedDeliveries.ts"

interface Props {
  readonly webhookId: string
  readonly kind: UnacceptedDeliveries.Kind
  readonly pollMs: number
}

/** Calls the endpoint again for all deliveries of a kind, and says how many there are. */
export const RepeatDeliveries = ({ kind, pollMs, webhookId }: Props) => {
  const client = useQueryClient()
  const { data: found } = useQuery({
    queryKey: [...Queries.deliveriesOf(webhookId), "repeated", kind],
    queryFn: ({ signal }) => UnacceptedDeliveries.find(webhookId, kind, signal),
    refetchInterval: pollMs,
  })
  const [action, setAction] = useState<Action>()
  const count = found === undefined || found.rows.length === 0 ? "" : ` (${UnacceptedDeliveries.countOf(found)})`
  if (count === "" && action === undefined) return undefined
  return (
    <>
      <Button
        small
        icon={<RotateCw size={13} />}
        onClick={() => setAction(found && UnacceptedDeliveries.repeat(webhookId, kind, found))}
      >
        {kind === "failed" ? "Replay failed" : "Retry now"}
        {count}
      </Button>
      <BulkDialog
        action={action}
        onClose={() => setAction(undefined)}
        onChanged={() => void client.invalidateQueries({ queryKey: Queries.deliveriesOf(webhookId) })}
      />
    </>
  )
}
