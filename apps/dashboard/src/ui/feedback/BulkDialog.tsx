import { useEffect, useRef, useState } from "react"
import { Button } from "../controls/Button.tsx"
import { UntrustedText } from "../display/UntrustedText.tsx"
import * as BulkSteps from "./BulkSteps.ts"
import { Dialog } from "./Dialog.tsx"
import { ErrorMessage } from "./ErrorMessage.tsx"
import type { Progress } from "./ExportProgress.tsx"

interface Props {
  readonly action: BulkSteps.Action
  readonly onClose: () => void
  /** Called once it has changed something. */
  readonly onChanged: () => void
}

/** Subjects of an action or a refusal that are named; the others are counted. */
const MAX_NAMED = 5

const Subjects = ({ names }: { readonly names: ReadonlyArray<string> }) => (
  <p className="mt-1 text-xs [overflow-wrap:anywhere]">
    <UntrustedText text={names.slice(0, MAX_NAMED).join(", ")} />
    {names.length > MAX_NAMED ? ` and ${(names.length - MAX_NAMED).toLocaleString("en")} more` : ""}
  </p>
)

/** Asks before an action on several things, shows how far it is, and what was refused. Closed while there is no action. */
export const BulkDialog = ({
  action,
  ...rest
}: Omit<Props, "action"> & { readonly action: Props["action"] | undefined }) => (
  <Dialog open={action !== undefined} onClose={rest.onClose} title={action === undefined ? "" : `${action.name}?`}>
    {action === undefined ? undefined : <Question action={action} {...rest} />}
  </Dialog>
)

const Question = ({ action, onChanged, onClose }: Props) => {
  const [progress, setProgress] = useState<Progress>()
  const [result, setResult] = useState<BulkSteps.Result>()
  const [error, setError] = useState<unknown>()
  const abort = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    abort.current = controller
    return () => controller.abort()
  }, [])
  const total = action.steps.length
  const start = async () => {
    setProgress({ done: 0, waitSeconds: 0 })
    try {
      setResult(await BulkSteps.run(action, abort.current.signal, setProgress))
    } catch (failure) {
      if (!abort.current.signal.aborted) setError(failure)
    } finally {
      onChanged()
    }
  }
  const isOver = result !== undefined || error !== undefined
  return (
    <div className="flex flex-col gap-4 p-5 text-sm">
      <ErrorMessage error={error} />
      {result !== undefined ? (
        <>
          <p role="status">{action.done(result.done)}</p>
          {[...result.refused].map(([reason, subjects]) => (
            <div key={reason} className="rounded-lg bg-bad-soft px-3 py-2.5 text-bad">
              <p>
                {subjects.length} refused: <UntrustedText text={reason} />
              </p>
              <Subjects names={subjects} />
            </div>
          ))}
        </>
      ) : progress === undefined ? (
        <div className="text-ink-2">
          <p>{action.text}</p>
          {action.isNamed === true ? <Subjects names={action.steps.map(({ subject }) => subject)} /> : undefined}
        </div>
      ) : (
        <>
          <p role="status">
            {progress.done} of {total} done
            {progress.waitSeconds > 0 ? `. Rate limit reached; continues in ${progress.waitSeconds} s.` : "…"}
          </p>
          <progress aria-label="Progress" value={progress.done} max={total} className="h-1 w-full accent-accent" />
        </>
      )}
      <footer className="flex justify-end gap-2">
        {isOver ? (
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button variant="ghost" onClick={onClose}>
              {progress === undefined ? "Keep as they are" : "Stop"}
            </Button>
            {progress === undefined ? (
              <Button
                variant={action.isDestructive ? "danger" : "primary"}
                disabled={total === 0}
                onClick={() => void start()}
              >
                {action.name}
              </Button>
            ) : undefined}
          </>
        )}
      </footer>
    </div>
  )
}
