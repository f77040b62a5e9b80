import { useQuery } from "@tanstack/react-query"
import { Plug } from "lucide-react"
import { EmptyState } from "../ui/feedback/EmptyState.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { Table } from "../ui/layout/Table.tsx"
import { RelativeTime } from "../ui/display/Time.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"
import { QueryResult } from "../ui/layout/QueryResult.tsx"

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

const lag = (ms: number | null): string =>
  ms === null ? "–" : ms < MINUTE_MS ? `${Math.round(ms / SECOND_MS)} s` : `${Math.round(ms / MINUTE_MS)} min`

export const Providers = () => (
  <Screen title="Providers" hint="Mail providers that report what became of the mail they were handed.">
    <QueryResult query={useQuery(OperatorQueries.providers)}>
      {({ data }) =>
        data.length === 0 ? (
          <EmptyState icon={<Plug size={20} />} title="No providers yet">
            Make an address for one with <code className="font-mono text-ink">npx waybill providers add</code>.
          </EmptyState>
        ) : (
          <Panel isScrollable>
            <Table
              isCards
              label="Providers"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { name: "Name", main: true, cell: ({ name }) => name },
                { name: "Provider", cell: ({ provider }) => provider },
                {
                  name: "Last event",
                  cell: ({ last_event_at }) =>
                    last_event_at === null ? (
                      <span className="text-ink-3">None</span>
                    ) : (
                      <RelativeTime iso={last_event_at} />
                    ),
                },
                { name: "Lag", number: true, cell: ({ lag_ms }) => lag(lag_ms) },
                { name: "Recorded", number: true, cell: ({ recorded }) => recorded.toLocaleString("en") },
                {
                  name: "Unmatched",
                  number: true,
                  wide: true,
                  cell: ({ unmatched }) => unmatched.toLocaleString("en"),
                },
                { name: "Refused", number: true, wide: true, cell: ({ refused }) => refused.toLocaleString("en") },
                {
                  name: "Last refusal",
                  wide: true,
                  cell: ({ last_refusal }) => <span className="text-xs text-ink-3">{last_refusal ?? "–"}</span>,
                },
              ]}
            />
          </Panel>
        )
      }
    </QueryResult>
  </Screen>
)
