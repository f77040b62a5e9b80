import { Download } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { Button } from "../../ui/controls/Button.tsx"
import { Dialog } from "../../ui/feedback/Dialog.tsx"
import { download } from "../../ui/display/download.ts"
import { ErrorMessage } from "../../ui/feedback/ErrorMessage.tsx"
import type { EmailFilters } from "./EmailFilters.ts"
import { exportEmails, MAX_EXPORTED, type Progress, type Result } from "./exportEmails.ts"

interface Props {
  readonly filters: EmailFilters
  readonly keyName: (id: string) => string
  readonly disabled: boolean
}

const emailCount = (n: number): string => `${n.toLocaleString("en")} ${n === 1 ? "email" : "emails"}`

/** Exports the emails of the current search to a CSV file. */
export const ExportEmails = ({ disabled, filters, keyName }: Props) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button icon={<Download size={14} />} disabled={disabled} onClick={() => setOpen(true)}>
        <span className="max-sm:sr-only">Export CSV</span>
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen} title="Export emails">
        {isOpen ? <Export filters={filters} keyName={keyName} onClose={() => setOpen(false)} /> : undefined}
      </Dialog>
    </>
  )
}

const Export = ({ filters, keyName, onClose }: Omit<Props, "disabled"> & { readonly onClose: () => void }) => {
  const [progress, setProgress] = useState<Progress>({ emails: 0, waitSeconds: 0 })
  const [result, setResult] = useState<Result>()
  const [error, setError] = useState<unknown>()
  const started = useRef({ filters, keyName })
  useEffect(() => {
    const abort = new AbortController()
    const run = async () => {
      const { filters: exported, keyName: nameOf } = started.current
      try {
        const done = await exportEmails(exported, nameOf, abort.signal, setProgress)
        download(done.file, "emails.csv")
        setResult(done)
      } catch (failure) {
        if (!abort.signal.aborted) setError(failure)
      }
    }
    void run()
    return () => abort.abort()
  }, [])
  return (
    <div className="flex flex-col gap-4 p-5 text-sm">
      {error === undefined ? undefined : <ErrorMessage error={error} />}
      <p role="status">
        {result === undefined
          ? progress.waitSeconds > 0
            ? `${emailCount(progress.emails)} read. Rate limit reached; continues in ${progress.waitSeconds} s.`
            : `${emailCount(progress.emails)} read…`
          : result.isCut
            ? `The newest ${emailCount(MAX_EXPORTED)} were exported. Narrow the search to export the others.`
            : `${emailCount(result.emails)} exported.`}
      </p>
      {result === undefined && error === undefined ? (
        <div role="progressbar" aria-label="Export" className="h-1 overflow-hidden rounded-full bg-hover">
          <div className="pulsing h-full w-full bg-accent" />
        </div>
      ) : undefined}
      <footer className="flex justify-end">
        <Button variant={result === undefined ? "secondary" : "primary"} onClick={onClose}>
          {result === undefined && error === undefined ? "Cancel" : "Done"}
        </Button>
      </footer>
    </div>
  )
}
