import type * as Operate from "@waybill/api/groups/Operate"
import { formatDateTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

const EVERY_SITE = "*"

/** The sites that an address sends nothing to, until when, and why. */
export const AddressPauses = ({ pauses }: Pick<Operate.SourceAddress, "pauses">) => (
  <ul className="flex flex-col gap-1">
    {pauses.map(({ reason, site, until }) => (
      <li key={site}>
        {site === EVERY_SITE ? "All mail" : site} until {until === null ? "resumed" : formatDateTime(until)}
        <UntrustedText className="block text-xs text-ink-3" text={reason} />
      </li>
    ))}
  </ul>
)
