import { useQuery } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/groups/Operate"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { QueryResult } from "../ui/layout/QueryResult.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"
import { queueFigures } from "./queueFigures.ts"
import { type Column, Table } from "../ui/layout/Table.tsx"

const QUEUES = [
  ["delivery", "Email deliveries"],
  ["webhook", "Webhook deliveries"],
  ["domain_check", "Domain checks"],
] as const

const FIGURES = ["pending", "inProgress", "deferred", "scheduled"] as const

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
    <QueryResult query={useQuery(OperatorQueries.queues)}>{(data) => <QueueTables data={data} />}</QueryResult>
  </Screen>
)

const QueueTables = ({ data }: { readonly data: Operate.Queues }) => {
  const rowOf = (kind: string, state: string) => data.queue.find((row) => row.kind === kind && row.state === state)
  const figuresOf = (kind: string) => {
    const [ready, leased, scheduled] = ["ready", "leased", "scheduled"].map((state) => {
      const { deferred = 0, rows = 0 } = rowOf(kind, state) ?? {}
      return { rows, deferred, first: rows - deferred }
    })
    return {
      pending: (ready?.first ?? 0) + (leased?.first ?? 0),
      inProgress: leased?.rows ?? 0,
      deferred: (ready?.deferred ?? 0) + (leased?.deferred ?? 0) + (scheduled?.deferred ?? 0),
      scheduled: scheduled?.first ?? 0,
    }
  }
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
      <Panel isScrollable>
        <Table
          isCards
          label="Queues"
          rows={QUEUES}
          keyOf={([kind]) => kind}
          columns={[
            { name: "Queue", main: true, cell: ([, name]) => <span className="font-medium">{name}</span> },
            ...FIGURES.map((figure): Column<(typeof QUEUES)[number]> => ({
              name: queueFigures[figure][0],
              number: true,
              cell: ([kind]) => number.format(figuresOf(kind)[figure]),
            })),
            {
              name: queueFigures.oldest[0],
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
      <QueueWords />
      <p className="text-sm text-ink-3">
        {data.workers === 0
          ? "No active workers. Start one with npx waybill start --roles worker."
          : `${data.workers} active ${data.workers === 1 ? "worker" : "workers"} · log position ${number.format(data.position)}`}
      </p>
    </>
  )
}

/** Says what the figures mean. */
const QueueWords = () => (
  <dl className="flex flex-wrap gap-x-5 gap-y-1 text-xs text-ink-3">
    {Object.values(queueFigures).map(([name, meaning]) => (
      <div key={name}>
        <dt className="inline font-medium text-ink-2">{name}:</dt> <dd className="inline">{meaning}.</dd>
      </div>
    ))}
  </dl>
)
