import type { Recipient } from "../api/Records.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { RecipientMenu } from "./RecipientMenu.tsx"

const KINDS = { to: "", cc: "Cc", bcc: "Bcc" } as const
/** Number of recipients shown before "more". */
const MAX_SHOWN = 8

interface Props {
  readonly recipients: ReadonlyArray<Recipient>
  /** Whether the email waits for its time: then its queued recipients are scheduled. */
  readonly isScheduled: boolean
}

export const Recipients = ({ isScheduled, recipients }: Props) => {
  const [first, ...others] = [recipients.slice(0, MAX_SHOWN), recipients.slice(MAX_SHOWN)].map((shown, nth) => (
    <ul key={nth} className="divide-y divide-line">
      {shown.map((recipient) => (
        <RecipientRow key={`${recipient.kind} ${recipient.address}`} recipient={recipient} isScheduled={isScheduled} />
      ))}
    </ul>
  ))
  return (
    <>
      {first}
      {recipients.length > MAX_SHOWN ? (
        <details className="border-t border-line">
          <summary className="cursor-pointer px-4 py-2.5 text-sm text-ink-2">
            {recipients.length - MAX_SHOWN} more
          </summary>
          {others}
        </details>
      ) : undefined}
    </>
  )
}

const RecipientRow = ({ isScheduled, recipient }: { readonly recipient: Recipient; readonly isScheduled: boolean }) => (
  <li className="flex items-center gap-3 px-4 py-2.5 text-sm">
    <span className="min-w-0 grow">
      <span className="block truncate" title={recipient.address}>
        {KINDS[recipient.kind] === "" ? undefined : (
          <span className="mr-1.5 text-xs text-ink-3">{KINDS[recipient.kind]}</span>
        )}
        <UntrustedText text={recipient.address} />
      </span>
      {recipient.suppression === null ? undefined : (
        <span className="block text-xs text-ink-3">Suppressed: {recipient.suppression.replace("_", " ")}</span>
      )}
    </span>
    <StatusBadge status={isScheduled && recipient.status === "queued" ? "scheduled" : recipient.status} />
    <RecipientMenu address={recipient.address} isSuppressed={recipient.suppression !== null} />
  </li>
)
