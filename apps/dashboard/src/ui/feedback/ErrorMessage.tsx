import { TriangleAlert } from "lucide-react"
import { Button } from "../controls/Button.tsx"
import { cx } from "../display/cx.ts"
import { UntrustedText } from "../display/UntrustedText.tsx"
import { ErrorDetails } from "./ErrorDetails.tsx"

interface Props {
  /** Nothing is shown while it is undefined or null. */
  readonly error: unknown
  readonly onRetry?: () => void
  readonly className?: string
}

export const ErrorMessage = ({ className, error, onRetry }: Props) =>
  error === undefined || error === null ? undefined : (
    <div
      role="alert"
      className={cx("flex items-start gap-2.5 rounded-lg bg-bad-soft px-3 py-2.5 text-sm text-bad", className)}
    >
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
