import type { Recipient } from "../api/Records.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const KINDS = { to: "", cc: "Cc", bcc: "Bcc" } as const
/** Number of recipients shown before "more". */
const MAX_SHOWN = 8

export const Recipients = ({ recipients }: { readonly recipients: ReadonlyArray<Recipient> }) => (
  <>
    <ul className="divide-y divide-line">
      {recipients.slice(0, MAX_SHOWN).map((recipient) => (
        <RecipientRow key={`${recipient.kind} ${recipient.address}`} recipient={recipient} />
      ))}
    </ul>
    {recipients.length > MAX_SHOWN ? (
      <details className="border-t border-line">
        <summary className="cursor-pointer px-4 py-2.5 text-sm text-ink-2">
          {recipients.length - MAX_SHOWN} more
        </summary>
        <ul className="divide-y divide-line">
          {recipients.slice(MAX_SHOWN).map((recipient) => (
            <RecipientRow key={`${recipient.kind} ${recipient.address}`} recipient={recipient} />
          ))}
        </ul>
      </details>
    ) : undefined}
  </>
)

const RecipientRow = ({ recipient }: { readonly recipient: Recipient }) => (
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
    <StatusBadge status={recipient.status} />
  </li>
)
