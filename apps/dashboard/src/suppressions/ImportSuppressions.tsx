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
import { FileProgress } from "./FileProgress.tsx"

/** Most rejected lines that the report shows; the file has all. */
const MAX_SHOWN = 10

export const ImportSuppressions = ({ onDone }: { readonly onDone: () => void }) => {
  const client = useQueryClient()
  const abort = useRef(new AbortController())
  const [progress, setProgress] = useState<SuppressionTransfer.Progress>()
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
    <div className="flex flex-col gap-4 p-5 text-sm">
      {error === undefined ? undefined : <ErrorMessage error={error} />}
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
        <FileProgress label="Import" progress={progress} />
      )}
      <footer className="flex justify-end">
        <Button variant={imported === undefined ? "secondary" : "primary"} onClick={onDone}>
          {imported === undefined ? "Cancel" : "Done"}
        </Button>
      </footer>
    </div>
  )
}

const Report = ({ imported: { added, rejected, unchanged } }: { readonly imported: SuppressionTransfer.Imported }) => (
  <>
    <p role="status">
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
