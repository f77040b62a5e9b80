import type { Recipient } from "../api/Records.ts"
import { State } from "../ui/display/Badge.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const KINDS = { to: "", cc: "Cc", bcc: "Bcc" } as const
/** More than these are folded away. */
const SHOWN = 8

export const Recipients = ({ recipients }: { readonly recipients: ReadonlyArray<Recipient> }) => (
  <>
    <ul className="divide-y divide-line">
      {recipients.slice(0, SHOWN).map((recipient) => (
        <One key={`${recipient.kind} ${recipient.address}`} recipient={recipient} />
      ))}
    </ul>
    {recipients.length > SHOWN ? (
      <details className="border-t border-line">
        <summary className="cursor-pointer px-4 py-2.5 text-sm text-ink-2">{recipients.length - SHOWN} more</summary>
        <ul className="divide-y divide-line">
          {recipients.slice(SHOWN).map((recipient) => (
            <One key={`${recipient.kind} ${recipient.address}`} recipient={recipient} />
          ))}
        </ul>
      </details>
    ) : undefined}
  </>
)

const One = ({ recipient }: { readonly recipient: Recipient }) => (
  <li className="flex items-center gap-3 px-4 py-2.5 text-sm">
    <span className="min-w-0 grow">
      <span className="block truncate" title={recipient.address}>
        {KINDS[recipient.kind] === "" ? undefined : (
          <span className="mr-1.5 text-xs text-ink-3">{KINDS[recipient.kind]}</span>
        )}
        <Foreign text={recipient.address} />
      </span>
      {recipient.suppression === null ? undefined : (
        <span className="block text-xs text-ink-3">suppressed: {recipient.suppression.replace("_", " ")}</span>
      )}
    </span>
    <State state={recipient.status} />
  </li>
)
