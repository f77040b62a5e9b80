import { Download } from "lucide-react"
import { useState } from "react"
import { Button } from "../../ui/controls/Button.tsx"
import { Dialog } from "../../ui/feedback/Dialog.tsx"
import type { EmailFilters } from "./EmailFilters.ts"
import { exportEmails } from "./exportEmails.ts"
import { ExportProgress } from "../../ui/feedback/ExportProgress.tsx"
import * as EmailTotals from "./EmailTotals.ts"

interface Props {
  readonly filters: EmailFilters
  readonly keyName: (id: string) => string
  readonly disabled: boolean
}

/** Exports the emails of the current search to a CSV file. */
export const ExportEmails = ({ disabled, filters, keyName }: Props) => {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button icon={<Download size={14} />} disabled={disabled} onClick={() => setOpen(true)}>
        <span className="max-sm:sr-only">Export CSV</span>
      </Button>
      <Dialog open={isOpen} onClose={close} title="Export emails">
        {isOpen ? (
          <ExportProgress
            fileName="emails.csv"
            counted={(count) => EmailTotals.text({ count, is_exact: true })}
            read={(signal, onProgress) => exportEmails(filters, keyName, signal, onProgress)}
            onDone={close}
          />
        ) : undefined}
      </Dialog>
    </>
  )
}
