import { useMutation } from "@tanstack/react-query"
import * as Api from "../api/Api.ts"
import type { Domain } from "../api/Records.ts"
import { Checkbox } from "../ui/controls/Field.tsx"
import { ErrorMessage } from "../ui/feedback/ErrorMessage.tsx"
import { Panel } from "../ui/layout/Panel.tsx"

interface Props {
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
  return (
    <Panel title="Receiving">
      <div className="flex flex-col gap-3 p-4">
        <Checkbox
          role="switch"
          label="Receive mail"
          hint="Adds an MX record to publish. If another service has your mailboxes, use a subdomain such as in.example.com."
          checked={change.isPending ? change.variables : domain.receiving}
          disabled={!canEdit}
          onChange={(event) => change.mutate(event.target.checked)}
        />
        {change.error === null ? undefined : <ErrorMessage error={change.error} />}
      </div>
    </Panel>
  )
}
