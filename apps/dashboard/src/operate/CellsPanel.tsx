import { useQuery } from "@tanstack/react-query"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { Panel } from "../ui/layout/Panel.tsx"
import { Table } from "../ui/layout/Table.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"

const number = new Intl.NumberFormat()

/** Shows a figure, or a dash for a cell that does not answer. */
const figure = (value: number | null, format: (value: number) => string = number.format): string =>
  value === null ? "–" : format(value)

/** Cells of the database, where there are several. */
export const CellsPanel = () => {
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
