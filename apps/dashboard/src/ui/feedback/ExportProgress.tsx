import { useEffect, useRef, useState } from "react"
import { download } from "../display/download.ts"
import { DialogBody } from "./Dialog.tsx"
import { ErrorMessage } from "./ErrorMessage.tsx"

/** How far a transfer is. */
export interface Progress {
  readonly done: number
  /** Number in all; undefined while it is not known. */
  readonly of?: number
  /** Seconds until the rate limit allows the next request; 0 if it does now. */
  readonly waitSeconds: number
}

interface Props {
  readonly fileName: string
  /** Name of what is exported: "1 email", "2 emails". */
  readonly counted: (count: number) => string
  /** Reads all of it, and returns the file, and what is said when it is done. */
  readonly read: (
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ) => Promise<{ readonly file: Blob; readonly text: string }>
  readonly onDone: () => void
}

/** Content of a dialog that writes a file, and gives it to the browser. Closing it stops the export. */
export const ExportProgress = ({ counted, fileName, onDone, read }: Props) => {
  const [{ done, waitSeconds }, setProgress] = useState<Progress>({ done: 0, waitSeconds: 0 })
  const [text, setText] = useState<string>()
  const [error, setError] = useState<unknown>()
  const started = useRef({ fileName, read })
  useEffect(() => {
    const abort = new AbortController()
    const run = async () => {
      try {
        const result = await started.current.read(abort.signal, setProgress)
        download(result.file, started.current.fileName)
        setText(result.text)
      } catch (failure) {
        if (!abort.signal.aborted) setError(failure)
      }
    }
    void run()
    return () => abort.abort()
  }, [])
  const isRunning = text === undefined && error === undefined
  const wait = waitSeconds > 0 ? `. Rate limit reached; continues in ${waitSeconds} s.` : "…"
  return (
    <DialogBody done={isRunning ? "Cancel" : "Done"} isPrimary={text !== undefined} onDone={onDone}>
      <ErrorMessage error={error} />
      <p role="status" className="text-sm">
        {text ?? `${counted(done)} read${wait}`}
      </p>
      {isRunning ? (
        <div role="progressbar" aria-label="Export" className="h-1 overflow-hidden rounded-full bg-hover">
          <div className="pulsing h-full w-full bg-accent" />
        </div>
      ) : undefined}
    </DialogBody>
  )
}
