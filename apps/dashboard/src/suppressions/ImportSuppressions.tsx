import * as SuppressionFile from "@waybill/domain/suppression/SuppressionFile"
import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import * as Queries from "../api/Queries.ts"
import { Button } from "../ui/controls/Button.tsx"
import { TextField } from "../ui/controls/Field.tsx"
import { download } from "../ui/display/download.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import * as SuppressionTransfer from "./SuppressionTransfer.ts"
import { DialogBody } from "../ui/feedback/Dialog.tsx"
import type { Progress } from "../ui/feedback/ExportProgress.tsx"

/** Most rejected lines that the report shows; the file has all. */
const MAX_SHOWN = 10

export const ImportSuppressions = ({ onDone }: { readonly onDone: () => void }) => {
  const client = useQueryClient()
  const abort = useRef(new AbortController())
  const [progress, setProgress] = useState<Progress>()
  const [imported, setImported] = useState<SuppressionTransfer.Imported>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const controller = new AbortController()
    abort.current = controller
    return () => controller.abort()
  }, [])
  const run = async (file: File) => {
    const { signal } = abort.current
    setError(undefined)
    setProgress({ done: 0, waitSeconds: 0 })
    try {
      setImported(await SuppressionTransfer.read(await file.text(), signal, setProgress))
    } catch (failure) {
      if (!signal.aborted) setError(failure)
    }
    setProgress(undefined)
    void client.invalidateQueries({ queryKey: Queries.SUPPRESSIONS })
  }
  return (
    <DialogBody done={imported === undefined ? "Cancel" : "Done"} isPrimary={imported !== undefined} onDone={onDone}>
      <ErrorMessage error={error} />
      {imported !== undefined ? (
        <Report imported={imported} />
      ) : progress === undefined ? (
        <TextField
          label="CSV file"
          type="file"
          accept=".csv,text/csv,text/plain"
          hint="One address a line, with a reason after a comma. Exports of other services work if a column is called email."
          onChange={(event) => {
            const [file] = event.target.files ?? []
            if (file !== undefined) void run(file)
          }}
        />
      ) : (
        <ImportProgress progress={progress} />
      )}
    </DialogBody>
  )
}

const PERCENT = 100

const ImportProgress = ({ progress: { done, of = 0, waitSeconds } }: { readonly progress: Progress }) => (
  <>
    <p role="status" className="text-sm">
      {of === 0 ? "Reading the file…" : `${done.toLocaleString("en")} of ${of.toLocaleString("en")} addresses…`}
      {waitSeconds > 0 ? ` Rate limit reached; continues in ${waitSeconds} s.` : ""}
    </p>
    <div role="progressbar" aria-label="Import" className="h-1 overflow-hidden rounded-full bg-hover">
      <div className="h-full bg-accent" style={{ width: `${of === 0 ? 0 : (done / of) * PERCENT}%` }} />
    </div>
  </>
)

const Report = ({ imported: { added, rejected, unchanged } }: { readonly imported: SuppressionTransfer.Imported }) => (
  <>
    <p role="status" className="text-sm">
      {added.toLocaleString("en")} added, {unchanged.toLocaleString("en")} already suppressed,{" "}
      {rejected.length.toLocaleString("en")} rejected.
    </p>
    {rejected.length === 0 ? undefined : (
      <>
        <ul className="flex max-h-48 flex-col gap-1 overflow-y-auto text-xs text-ink-2" aria-label="Rejected lines">
          {rejected.slice(0, MAX_SHOWN).map(({ line, problem }) => (
            <li key={line}>
              Line {line}: <UntrustedText text={problem} />
            </li>
          ))}
        </ul>
        <div>
          <Button
            small
            onClick={() => download(SuppressionTransfer.csv(SuppressionFile.writeRejected(rejected)), "rejected.csv")}
          >
            Download rejected lines
          </Button>
        </div>
      </>
    )}
  </>
)
