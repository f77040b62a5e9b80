import { useMutation } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import * as Api from "../api/Api.ts"
import type { Domain } from "../api/Records.ts"
import { useHasScope } from "../session/useHasScope.ts"
import { Checkbox } from "../ui/controls/Field.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { needsNoDns } from "./needsNoDns.ts"
import { RecordStatus } from "./RecordStatus.tsx"
import { Panel } from "../ui/layout/Screen.tsx"

/** Properties of a panel that changes a domain. */
export interface Props {
  readonly domain: Domain
  readonly canEdit: boolean
  readonly onChanged: (next: Domain) => void
}

/** Switch for mail to addresses of a domain. */
export const Receiving = ({ canEdit, domain, onChanged }: Props) => {
  const change = useMutation({
    mutationFn: (receiving: boolean) => Api.patch<Domain>(`/domains/${encodeURIComponent(domain.name)}`, { receiving }),
    onSuccess: onChanged,
  })
  const canRoute = useHasScope("inbound:write")
  const isSandbox = needsNoDns(domain)
  const mx = domain.records.find(({ purpose }) => purpose === "receiving")
  return (
    <Panel
      title="Receiving"
      actions={
        mx === undefined ? undefined : (
          <span className="flex items-center gap-2 text-xs text-ink-3">
            MX <RecordStatus status={mx.status} />
          </span>
        )
      }
    >
      <div className="flex flex-col gap-3 p-4">
        <Checkbox
          role="switch"
          label="Receive mail"
          hint={
            isSandbox
              ? "Sandbox: receives without DNS."
              : `Adds an MX record to publish. If another service has your mailboxes, use a subdomain such as in.${domain.zone ?? domain.name}.`
          }
          checked={isSandbox || (change.isPending ? change.variables : domain.receiving)}
          disabled={isSandbox || !canEdit}
          onChange={(event) => change.mutate(event.target.checked)}
        />
        {(isSandbox || domain.receiving) && canRoute ? (
          <p className="text-sm text-ink-2">
            What happens to its mail is set under{" "}
            <Link to="/routes" className="link">
              Routes
            </Link>
            .
          </p>
        ) : undefined}
        <ErrorMessage error={change.error} />
      </div>
    </Panel>
  )
}
