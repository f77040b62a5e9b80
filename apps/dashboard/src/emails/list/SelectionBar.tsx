import { useQueryClient } from "@tanstack/react-query"
import { Ban, CircleX, Download, Send, X } from "lucide-react"
import { type ReactNode, useState } from "react"
import * as Queries from "../../api/Queries.ts"
import type { Email } from "../../api/Records.ts"
import { useHasScope } from "../../session/useHasScope.ts"
import { Button, IconButton } from "../../ui/controls/Button.tsx"
import { download } from "../../ui/display/download.ts"
import { BulkDialog } from "../../ui/feedback/BulkDialog.tsx"
import type { Action } from "../../ui/feedback/BulkSteps.ts"
import { showToast } from "../../ui/feedback/Toasts.tsx"
import * as EmailFile from "../search/EmailFile.ts"
import * as Bulk from "./Bulk.ts"

interface Props {
  /** The selected emails, as they are now. */
  readonly emails: ReadonlyArray<Email>
  readonly keyName: (id: string) => string
  /** Emails of the search that the list has not loaded, if all of those that it has are selected. */
  readonly others: { readonly name: string; readonly select: () => Promise<void> } | undefined
  readonly onClear: () => void
}

/** Actions on the selected emails, at the lower edge of the window. */
export const SelectionBar = ({ emails, keyName, onClear, others }: Props) => {
  const client = useQueryClient()
  const [action, setAction] = useState<Action>()
  const [isLoading, setLoading] = useState(false)
  const canSend = useHasScope("email:send")
  const canSuppress = useHasScope("suppressions:write")
  if (emails.length === 0 && action === undefined) return undefined
  const buttonOf = (name: Bulk.Name, icon: ReactNode) => {
    const offered = Bulk.actionOf(name, emails)
    return offered.steps.length === 0 ? undefined : (
      <Button small icon={icon} onClick={() => setAction(offered)}>
        {offered.name}
      </Button>
    )
  }
  return (
    <div
      role="region"
      aria-label="Selected emails"
      data-lower-bar
      className="sticky bottom-4 z-20 mx-auto flex w-fit max-w-full flex-wrap items-center gap-2 rounded-xl border border-line-strong bg-raised px-3 py-2 shadow-float"
    >
      <span className="tabular text-sm font-medium" role="status">
        {emails.length.toLocaleString("en")} selected
      </span>
      {others === undefined ? undefined : (
        <Button
          small
          variant="ghost"
          disabled={isLoading}
          onClick={() => {
            setLoading(true)
            void others.select().finally(() => setLoading(false))
          }}
        >
          {isLoading ? "Loading…" : `Select ${others.name}`}
        </Button>
      )}
      {canSend ? (
        <>
          {buttonOf("cancel", <CircleX size={13} />)}
          {buttonOf("resend", <Send size={13} />)}
        </>
      ) : undefined}
      {canSuppress ? buttonOf("suppress", <Ban size={13} />) : undefined}
      <Button
        small
        icon={<Download size={13} />}
        onClick={() => {
          download(EmailFile.fileOf(emails, keyName), "emails.csv")
          showToast(emails.length === 1 ? "1 email exported." : `${emails.length} emails exported.`)
        }}
      >
        Export CSV
      </Button>
      <IconButton label="Clear the selection" onClick={onClear}>
        <X size={15} />
      </IconButton>
      <BulkDialog
        action={action}
        onClose={() => setAction(undefined)}
        onChanged={() => {
          onClear()
          void client.invalidateQueries({ queryKey: ["emails"] })
          void client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
        }}
      />
    </div>
  )
}
