import { Link } from "@tanstack/react-router"
import type { InboundEmailWhole } from "../api/Records.ts"

interface Row {
  readonly action: string
  readonly result: string
  readonly email_id: string | null
  readonly reason: string | null
}

const FORWARD = "forward"

/** Routes that applied to a mail, and forwards that no route asked for, with their results. */
export const RoutesApplied = ({ mail }: { readonly mail: InboundEmailWhole }) => {
  const rows: ReadonlyArray<Row> = [
    ...mail.routes,
    ...mail.forwards.map((forward) => ({ ...forward, action: FORWARD })),
  ]
  return rows.length === 0 ? (
    <p className="p-8 text-center text-sm text-ink-3">
      No route applied: the mail was stored, and webhooks were called.
    </p>
  ) : (
    <ul className="divide-y divide-line">
      {rows.map(({ action, email_id, reason, result }, nth) => (
        <li key={`${nth} ${action}`} className="flex items-baseline gap-3 px-4 py-3 text-sm">
          <span className="w-24 shrink-0 font-medium">{action}</span>
          <span className="min-w-0 grow break-words text-ink-2">
            {result}
            {reason === null ? undefined : `: ${reason}`}
          </span>
          {email_id === null ? undefined : (
            <Link to="/emails/$id" params={{ id: email_id }} className="shrink-0 link">
              View the email
            </Link>
          )}
        </li>
      ))}
    </ul>
  )
}
