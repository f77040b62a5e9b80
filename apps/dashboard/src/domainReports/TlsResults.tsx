import type { TlsReports } from "../api/Records.ts"
import { UntrustedText } from "../ui/display/UntrustedText.tsx"
import { Table } from "../ui/layout/Table.tsx"
import { Figures } from "./Figures.tsx"
import * as Format from "./ReportFormat.ts"

const POLICIES = { sts: "MTA-STS", tlsa: "DANE", "no-policy-found": "No policy" } as const

/** Tables of the TLS sessions of other mail servers with those of a domain. */
export const TlsResults = ({ reports: { failures, policies, reporters } }: { readonly reports: TlsReports }) => {
  const succeeded = policies.reduce((sum, policy) => sum + policy.succeeded, 0)
  const failed = policies.reduce((sum, policy) => sum + policy.failed, 0)
  return (
    <>
      <Figures
        figures={[
          ["Connections", Format.number(succeeded + failed)],
          ["Succeeded", Format.share(succeeded, succeeded + failed)],
          ["Policy", policies.map(({ policy }) => POLICIES[policy]).join(", ")],
          ["Reporters", Format.reporters(reporters)],
        ]}
      />
      {failures.length === 0 ? undefined : (
        <Table
          label="Failures"
          rows={failures}
          keyOf={({ failure, policy, server }) => `${policy} ${failure} ${server}`}
          columns={[
            {
              name: "Failure",
              main: true,
              cell: ({ failure, server }) => (
                <>
                  <span className="block truncate font-mono text-xs">{failure}</span>
                  {server === null ? undefined : (
                    <UntrustedText className="block truncate text-xs text-ink-3" text={server} />
                  )}
                </>
              ),
            },
            { name: "Connections", number: true, cell: ({ sessions }) => Format.number(sessions) },
            { name: "Policy", cell: ({ policy }) => <span className="whitespace-nowrap">{POLICIES[policy]}</span> },
            { name: "Last seen", wide: true, oneLine: true, cell: ({ last_day }) => Format.day(last_day) },
          ]}
        />
      )}
    </>
  )
}
