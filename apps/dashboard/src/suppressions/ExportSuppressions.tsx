import { useEffect, useRef, useState } from "react"
import type { SuppressionFilters } from "../api/Queries.ts"
import { Button } from "../ui/controls/Button.tsx"
import { download } from "../ui/display/download.ts"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { FileProgress } from "./FileProgress.tsx"
import * as SuppressionTransfer from "./SuppressionTransfer.ts"

/** Exports the suppressions of the current filters to a CSV file. */
export const ExportSuppressions = ({
  filters,
  onDone,
}: {
  readonly filters: SuppressionFilters
  readonly onDone: () => void
}) => {
  const [progress, setProgress] = useState<SuppressionTransfer.Progress>({ done: 0, waitSeconds: 0 })
  const [addresses, setAddresses] = useState<number>()
  const [error, setError] = useState<unknown>()
  const started = useRef(filters)
  useEffect(() => {
    const abort = new AbortController()
    const run = async () => {
      try {
        const done = await SuppressionTransfer.write(started.current, abort.signal, setProgress)
        download(done.file, "suppressions.csv")
        setAddresses(done.addresses)
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
      {addresses !== undefined ? (
        <p role="status">
          {addresses.toLocaleString("en")} {addresses === 1 ? "address" : "addresses"} exported.
        </p>
      ) : error === undefined ? (
        <FileProgress label="Export" progress={progress} />
      ) : undefined}
      <footer className="flex justify-end">
        <Button variant={addresses === undefined ? "secondary" : "primary"} onClick={onDone}>
          {addresses === undefined && error === undefined ? "Cancel" : "Done"}
        </Button>
      </footer>
    </div>
  )
}
