import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Email, Page } from "../api/Records.ts"
import { get } from "../api/Api.ts"
import { State } from "../ui/display/Badge.tsx"
import { Panel, SkeletonRows } from "../ui/layout/Screen.tsx"
import { Time } from "../ui/display/Time.tsx"
import { Foreign } from "../ui/display/UntrustedText.tsx"

const SHOWN = 6

/** The newest messages, as a way into the log. */
export const Recent = () => {
  const { data } = useQuery({
    queryKey: ["recent"],
    queryFn: ({ signal }) => get<Page<Email>>("/email/logs", { limit: SHOWN }, signal),
  })
  return (
    <Panel
      title="Newest"
      actions={
        <Link to="/emails" className="rounded-md text-xs font-medium text-ink-2 hover:text-ink">
          All emails
        </Link>
      }
    >
      {data === undefined ? (
        <SkeletonRows rows={SHOWN} />
      ) : (
        <ul className="divide-y divide-line">
          {data.data.map((email) => (
            <li key={email.id}>
              <Link
                to="/emails/$id"
                params={{ id: email.id }}
                className="flex items-center gap-3 px-4 py-2.5 text-sm hover:bg-hover focus-visible:-outline-offset-2"
              >
                <span className="w-26 shrink-0">
                  <State state={email.status} />
                </span>
                <span className="hidden w-48 shrink-0 truncate sm:block">
                  <Foreign text={email.recipients[0]?.address ?? ""} />
                </span>
                <span className="min-w-0 grow truncate text-ink-2">
                  {email.subject === "" ? "No subject" : <Foreign text={email.subject} />}
                </span>
                <span className="tabular shrink-0 text-xs text-ink-3">
                  <Time iso={email.created_at} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
