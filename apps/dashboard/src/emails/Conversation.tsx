import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as Queries from "../api/Queries.ts"
import { formatDateTime } from "../ui/display/Time.tsx"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"

interface Props {
  /** Id of the thread. */
  readonly id: string
  /** Id of the mail that is shown beside it. */
  readonly own: string
}

/** A conversation: sent and received mail, in order. */
export const Conversation = ({ id, own }: Props) => {
  const { data: thread } = useQuery(Queries.thread(id))
  return (
    <ol className="divide-y divide-line">
      {(thread?.data ?? []).map((entry) => (
        <li key={entry.id} className="flex items-baseline gap-3 px-4 py-3 text-sm">
          <span className="w-16 shrink-0 text-xs text-ink-3">{entry.direction === "sent" ? "Sent" : "Received"}</span>
          <span className="min-w-0 grow">
            <UntrustedText className="block truncate" text={entry.subject ?? "No subject"} />
            <span className="block truncate text-xs text-ink-3">
              <UntrustedText text={entry.from} /> · {formatDateTime(entry.created_at)}
            </span>
          </span>
          {entry.id === own ? (
            <span className="shrink-0 text-xs text-ink-3">This mail</span>
          ) : (
            <Link
              {...(entry.direction === "sent"
                ? { to: "/emails/$id", params: { id: entry.id } }
                : { to: "/received", search: { id: entry.id } })}
              className="text-xs link"
            >
              Open
            </Link>
          )}
        </li>
      ))}
    </ol>
  )
}
