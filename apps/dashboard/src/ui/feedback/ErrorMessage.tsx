import { TriangleAlert } from "lucide-react"
import { Refused } from "../../api/Api.ts"
import { Button } from "../controls/Button.tsx"
import { CopyButton } from "../controls/CopyButton.tsx"
import { Foreign } from "../display/UntrustedText.tsx"

interface Props {
  readonly error: unknown
  readonly onRetry?: () => void
}

/** What went wrong, in the server's words, with the id under which its log has the rest. */
export const ErrorNote = ({ error, onRetry }: Props) => {
  const requestId = error instanceof Refused ? error.requestId : null
  const message = error instanceof Error ? error.message : "Something went wrong."
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-lg bg-bad-soft px-3 py-2.5 text-sm text-bad">
      <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      <div className="min-w-0 grow">
        <p>
          <Foreign text={message} />
        </p>
        {requestId === null ? undefined : (
          <p className="mt-0.5 flex items-center gap-1 font-mono text-xs">
            <span className="truncate">{requestId}</span>
            <CopyButton text={requestId} label="Copy the request id" />
          </p>
        )}
      </div>
      {onRetry === undefined ? undefined : (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
