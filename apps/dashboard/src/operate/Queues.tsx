import type * as Operate from "@waybill/api/groups/Operate"
import { Panel } from "../ui/layout/Panel.tsx"
import { Screen } from "../ui/layout/Screen.tsx"
import { QueryResult } from "./QueryResult.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"
import { Table } from "../ui/layout/Table.tsx"

const QUEUES = [
  ["delivery", "Email deliveries"],
  ["webhook", "Webhook deliveries"],
  ["domain_check", "Domain checks"],
] as const

const EVENTS = [
  ["EmailQueued", "Accepted", "emails"],
  ["EmailDelivered", "Delivered", "recipients"],
  ["EmailDeferred", "Deferred", "recipients"],
  ["EmailBounced", "Bounced", "recipients"],
  ["EmailFailed", "Failed", "recipients"],
] as const

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** Age of due work that is shown as a problem. */
const OVERDUE_S = 30

export const Queues = () => (
  <Screen title="Queues" hint="Pending work of the whole instance and its throughput.">
    <QueryResult options={OperatorQueries.queues}>{(data) => <QueueTables data={data} />}</QueryResult>
  </Screen>
)

const QueueTables = ({ data }: { readonly data: Operate.Queues }) => {
  const rowOf = (kind: string, state: string) => data.queue.find((row) => row.kind === kind && row.state === state)
  const oldest = (kind: string) => Math.max(0, rowOf(kind, "ready")?.oldest_s ?? 0)
  return (
    <>
      <ul className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-5">
        {EVENTS.map(([type, name, unit]) => (
          <li key={type} className="bg-panel px-4 py-4 max-sm:last:col-span-2">
            <p className="text-xs font-medium text-ink-3">{name}</p>
            <p className="tabular mt-1 text-2xl font-semibold tracking-tight">
              {number.format(data.per_second[type] ?? 0)}
            </p>
            <p className="mt-0.5 text-xs text-ink-3">{unit} per second</p>
          </li>
        ))}
      </ul>
      <Panel title="Queues" className="overflow-x-auto">
        <Table
          label="Queues"
          rows={QUEUES}
          keyOf={([kind]) => kind}
          columns={[
            { name: "Queue", cell: ([, name]) => <span className="font-medium">{name}</span> },
            { name: "Pending", number: true, cell: ([kind]) => number.format(rowOf(kind, "ready")?.rows ?? 0) },
            { name: "In progress", number: true, cell: ([kind]) => number.format(rowOf(kind, "leased")?.rows ?? 0) },
            {
              name: "Scheduled",
              number: true,
              wide: true,
              cell: ([kind]) => number.format(rowOf(kind, "scheduled")?.rows ?? 0),
            },
            {
              name: "Oldest waiting",
              number: true,
              cell: ([kind]) => (
                <span className={oldest(kind) > OVERDUE_S ? "font-medium text-bad" : ""}>
                  {(rowOf(kind, "ready")?.rows ?? 0) === 0 ? "–" : `${number.format(oldest(kind))} s`}
                </span>
              ),
            },
          ]}
        />
      </Panel>
      <p className="text-sm text-ink-3">
        {data.workers === 0
          ? "No active workers. Start one with npx waybill start --roles worker."
          : `${data.workers} active ${data.workers === 1 ? "worker" : "workers"} · log position ${number.format(data.position)}`}
      </p>
    </>
  )
}
