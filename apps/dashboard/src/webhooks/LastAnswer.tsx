import type { Webhook } from "../api/Records.ts"
import { formatDuration } from "../ui/display/formatDuration.ts"
import { formatDateTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { isSuccessful, ResponseStatus } from "./ResponseStatus.tsx"

/** Shows what the endpoint answered last, when, and how it began; or why it gave no answer. */
export const LastAnswer = ({ call }: { readonly call: Webhook["last_call"] }) => {
  if (call === null) return "None yet"
  const text = call.error ?? (isSuccessful(call.status) ? null : call.answer)
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <ResponseStatus status={call.status} />
      <span className="tabular">
        {formatDateTime(call.at)}, {formatDuration(call.duration_ms)}
      </span>
      {text === null ? undefined : (
        <UntrustedText className="line-clamp-2 min-w-0 text-xs text-ink-3 [overflow-wrap:anywhere]" text={text} />
      )}
    </span>
  )
}
