import { TriangleAlert } from "lucide-react"
import { Button } from "../controls/Button.tsx"
import { UntrustedText } from "../display/UntrustedText.tsx"
import { ErrorDetails } from "./ErrorDetails.tsx"

interface Props {
  readonly error: unknown
  readonly onRetry?: () => void
}

export const ErrorMessage = ({ error, onRetry }: Props) => (
  <div role="alert" className="flex items-start gap-2.5 rounded-lg bg-bad-soft px-3 py-2.5 text-sm text-bad">
    <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
    <div className="min-w-0 grow">
      <p>
        <UntrustedText text={error instanceof Error ? error.message : "Something went wrong. Try again."} />
      </p>
      <ErrorDetails error={error} />
    </div>
    {onRetry === undefined ? undefined : (
      <Button small onClick={onRetry}>
        Try again
      </Button>
    )}
  </div>
)
