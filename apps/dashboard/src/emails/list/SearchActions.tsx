import { useQueryClient } from "@tanstack/react-query"
import * as EmailSearch from "@waybill/domain/search/EmailSearch"
import { Ban, CircleX } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import type { Email } from "../../api/Records.ts"
import { useHasScope } from "../../session/useHasScope.ts"
import { useSuppress } from "../../session/useSuppress.ts"
import { useSuppressionOf } from "../../session/useSuppressionOf.ts"
import { Button } from "../../ui/controls/Button.tsx"
import { UntrustedText } from "../../ui/display/UntrustedText.tsx"
import { BulkDialog } from "../../ui/feedback/BulkDialog.tsx"
import type { Action } from "../../ui/feedback/BulkSteps.ts"
import { type EmailFilters, isWaiting } from "../search/EmailFilters.ts"
import * as Bulk from "./Bulk.ts"

interface Props {
  readonly filters: EmailFilters
  /** How many emails there are, in words. */
  readonly found: string | undefined
  /** Loads the emails that the search finds, as many as are changed at once. */
  readonly load: () => Promise<ReadonlyArray<Email>>
  /** Whether a command has asked to cancel them, and the list is loaded. */
  readonly isAsked: boolean
  readonly onClose: () => void
}

/** Suppresses the one address that a search names. */
export const SuppressAddress = ({ filters }: { readonly filters: EmailFilters }) => {
  const suppress = useSuppress()
  const address = EmailSearch.soughtAddress(filters)
  const suppression = useSuppressionOf(address, useHasScope("suppressions:write"))
  return address === undefined || suppression !== null ? undefined : (
    <Button small icon={<Ban size={13} />} onClick={() => suppress(address)}>
      <span className="max-w-64 truncate">
        Suppress <UntrustedText text={address} />
      </span>
    </Button>
  )
}

/** Actions on all that a search finds: cancels emails that wait, and suppresses the one address that it names. */
export const SearchActions = ({ filters, found, isAsked, load, onClose }: Props) => {
  const client = useQueryClient()
  const [action, setAction] = useState<Action>()
  const canCancel = useHasScope("email:send") && isWaiting(filters)
  const ask = async () => setAction(Bulk.actionOf("cancel", await load()))
  const latest = useRef(ask)
  useEffect(() => {
    latest.current = ask
  })
  useEffect(() => {
    if (isAsked && canCancel) void latest.current()
  }, [isAsked, canCancel])
  const close = () => {
    setAction(undefined)
    onClose()
  }
  return (
    <>
      {found === undefined ? undefined : <SuppressAddress filters={filters} />}
      {canCancel && found !== undefined ? (
        <Button small icon={<CircleX size={13} />} onClick={() => void ask()}>
          Cancel {found}
        </Button>
      ) : undefined}
      <BulkDialog
        action={action}
        onClose={close}
        onChanged={() => void client.invalidateQueries({ queryKey: ["emails"] })}
      />
    </>
  )
}
