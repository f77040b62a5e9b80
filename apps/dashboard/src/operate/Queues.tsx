import type * as Operate from "@waybill/api/Operate"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { Loaded } from "./QueryResult.tsx"
import { queues } from "./OperatorQueries.ts"
import { Table } from "./Table.tsx"

const KINDS = [
  ["delivery", "Deliveries"],
  ["webhook", "Webhook calls"],
  ["domain_check", "Domain checks"],
] as const

const FACTS = [
  ["EmailQueued", "Accepted"],
  ["EmailDelivered", "Delivered"],
  ["EmailDeferred", "Put off"],
  ["EmailBounced", "Bounced"],
  ["EmailFailed", "Failed"],
] as const

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** Work that is due and older than this waits for somebody who does not come. */
const LATE_S = 30

export const Queues = () => (
  <Screen title="Queues" hint="What is to be done in the whole instance, and how fast it is done.">
    <Loaded options={queues}>{(data) => <Shown data={data} />}</Loaded>
  </Screen>
)

const Shown = ({ data }: { readonly data: Operate.Queues }) => {
  const of = (kind: string, state: string) => data.queue.find((row) => row.kind === kind && row.state === state)
  const oldest = (kind: string) => Math.max(0, of(kind, "ready")?.oldest_s ?? 0)
  return (
    <>
      <ul className="grid grid-cols-2 overflow-hidden rounded-xl border border-line bg-panel sm:grid-cols-5">
        {FACTS.map(([type, name]) => (
          <li key={type} className="border-line px-4 py-4 not-first:border-l">
            <p className="text-xs font-medium text-ink-3">{name}</p>
            <p className="tabular mt-1 text-2xl font-semibold tracking-tight">
              {number.format(data.per_second[type] ?? 0)}
            </p>
            <p className="mt-0.5 text-xs text-ink-3">a second</p>
          </li>
        ))}
      </ul>
      <Panel title="Waiting and under way" className="overflow-x-auto">
        <Table
          label="Queues"
          rows={KINDS}
          keyOf={([kind]) => kind}
          columns={[
            { name: "Work", cell: ([, name]) => <span className="font-medium">{name}</span> },
            { name: "Due", number: true, cell: ([kind]) => number.format(of(kind, "ready")?.rows ?? 0) },
            { name: "Under way", number: true, cell: ([kind]) => number.format(of(kind, "leased")?.rows ?? 0) },
            {
              name: "Later",
              number: true,
              wide: true,
              cell: ([kind]) => number.format(of(kind, "scheduled")?.rows ?? 0),
            },
            {
              name: "The first is due since",
              number: true,
              cell: ([kind]) => (
                <span className={oldest(kind) > LATE_S ? "font-medium text-bad" : ""}>
                  {(of(kind, "ready")?.rows ?? 0) === 0 ? "–" : `${number.format(oldest(kind))} s`}
                </span>
              ),
            },
          ]}
        />
      </Panel>
      <p className="text-sm text-ink-3">
        {data.workers === 0
          ? "Nobody works: no process with the role of a worker has shown itself lately."
          : `${data.workers === 1 ? "One process works" : `${data.workers} processes work`}; the log stands at ${number.format(data.position)}.`}
      </p>
    </>
  )
}
