import { useQuery } from "@tanstack/react-query"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { formatDateTime, RelativeTime } from "../ui/display/Time.tsx"
import { QueryResult } from "../ui/layout/QueryResult.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"
import { Table } from "../ui/layout/Table.tsx"

export const Nodes = () => (
  <Screen
    title="Nodes"
    hint="Processes that use this database. Others take over the work of a process that stops responding."
  >
    <QueryResult query={useQuery(OperatorQueries.nodes)}>
      {(data) => (
        <>
          <Panel title="Workers" isScrollable>
            {data.nodes.length === 0 ? (
              <p className="p-8 text-center text-sm text-ink-3">
                No workers running. Start one with{" "}
                <code className="font-mono text-ink">npx waybill start --roles worker</code>.
              </p>
            ) : (
              <Table
                label="Workers"
                rows={data.nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: "Process",
                    main: true,
                    cell: ({ id }) => (
                      <code className="block truncate font-mono text-xs" title={id}>
                        {id}
                      </code>
                    ),
                  },
                  { name: "Status", cell: ({ alive }) => <StatusBadge status={alive ? "active" : "silent"} /> },
                  { name: "In progress", number: true, wide: true, cell: ({ leases }) => leases },
                  { name: "Started", wide: true, oneLine: true, cell: ({ started_at }) => formatDateTime(started_at) },
                  { name: "Last seen", wide: true, cell: ({ beat_at }) => <RelativeTime iso={beat_at} /> },
                ]}
              />
            )}
          </Panel>
          <Panel title="Postgres connections" isScrollable>
            <Table
              label="Connections"
              rows={data.connections}
              keyOf={({ application, state }) => `${application} ${state}`}
              columns={[
                { name: "Application", cell: ({ application }) => application },
                { name: "State", cell: ({ state }) => <span className="text-ink-2">{state}</span> },
                { name: "Connections", number: true, cell: ({ connections }) => connections },
              ]}
            />
          </Panel>
          <CellsPanel />
          <p className="text-sm text-ink-3">
            Version {data.release} · database size {formatBytes(data.size_bytes)}
          </p>
        </>
      )}
    </QueryResult>
  </Screen>
)

const number = new Intl.NumberFormat()

/** Shows a figure, or a dash for a cell that does not answer. */
const figure = (value: number | null, format: (value: number) => string = number.format): string =>
  value === null ? "–" : format(value)

/** Cells of the database, where there are several. */
const CellsPanel = () => {
  const { data } = useQuery(OperatorQueries.cells)
  if (data === undefined || data.data.length < 2) return undefined
  return (
    <Panel title="Cells" isScrollable>
      <Table
        label="Cells"
        rows={data.data}
        keyOf={({ name }) => name}
        columns={[
          {
            name: "Cell",
            main: true,
            cell: ({ name, node }) => (
              <>
                <code className="block truncate font-mono text-xs">{name}</code>
                {node === null ? undefined : <span className="block truncate text-xs text-ink-3">{node}</span>}
              </>
            ),
          },
          {
            name: "State",
            cell: ({ accounts, state }) => <StatusBadge status={accounts === null ? "silent" : state} />,
          },
          { name: "Accounts", number: true, cell: ({ accounts }) => figure(accounts) },
          { name: "Emails", number: true, wide: true, cell: ({ emails }) => figure(emails) },
          { name: "Size", number: true, wide: true, cell: ({ bytes }) => figure(bytes, formatBytes) },
          { name: "Events per second", number: true, wide: true, cell: ({ per_second }) => figure(per_second) },
          { name: "Waiting", number: true, cell: ({ waiting }) => figure(waiting) },
          { name: "Events behind", number: true, wide: true, cell: ({ lag }) => figure(lag) },
        ]}
      />
    </Panel>
  )
}
