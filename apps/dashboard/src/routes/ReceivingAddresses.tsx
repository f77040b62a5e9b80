import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as Queries from "../api/Queries.ts"
import { needsNoDns } from "../domains/needsNoDns.ts"
import { recordError, RecordStatus } from "../domains/RecordStatus.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

/** The addresses whose mail comes here, and whether the MX record of each domain leads here. */
export const ReceivingAddresses = () => {
  const { data: account } = useQuery(Queries.account)
  const { data: domains } = useQuery(Queries.domains)
  if (account === undefined || domains === undefined) return undefined
  const receiving = domains.data.filter((domain) => domain.receiving || needsNoDns(domain))
  return (
    <Panel title="Addresses that receive">
      <ul className="divide-y divide-line text-sm">
        {receiving.map((domain) => {
          const { name, records } = domain
          const mx = needsNoDns(domain) ? undefined : records.find(({ purpose }) => purpose === "receiving")
          return (
            <li key={name} className="px-4 py-2.5">
              <span className="flex items-center gap-3">
                <Link
                  to="/domains/$name"
                  params={{ name }}
                  className="min-w-0 grow truncate font-medium hover:underline"
                >
                  *@{name}
                </Link>
                {needsNoDns(domain) ? (
                  <span className="text-xs text-ink-3">Sandbox: needs no DNS</span>
                ) : mx === undefined ? undefined : (
                  <span className="flex items-center gap-2 text-xs text-ink-3">
                    MX <RecordStatus status={mx.status} />
                  </span>
                )}
              </span>
              {mx?.error === null || mx === undefined ? undefined : (
                <span className="mt-1 block text-xs [overflow-wrap:anywhere] text-ink-3">{recordError(mx.error)}</span>
              )}
            </li>
          )
        })}
        <li className="flex items-center gap-3 px-4 py-2.5">
          <span className="min-w-0 grow font-medium [overflow-wrap:anywhere]">*@{account.inbound_domain}</span>
          <span className="shrink-0 text-xs text-ink-3">Needs no DNS of yours</span>
        </li>
      </ul>
      {receiving.length > 0 ? undefined : (
        <p className="border-t border-line px-4 py-3 text-sm text-ink-2">
          To receive mail for your own domain, open it under{" "}
          <Link to="/domains" className="link">
            Domains
          </Link>{" "}
          and turn on “Receive mail”.
        </p>
      )}
    </Panel>
  )
}
