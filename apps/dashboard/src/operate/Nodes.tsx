import { State } from "../ui/display/Badge.tsx"
import { size } from "../ui/display/formatBytes.ts"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { exactly, Time } from "../ui/display/Time.tsx"
import { Loaded } from "./QueryResult.tsx"
import { nodes } from "./OperatorQueries.ts"
import { Table } from "./Table.tsx"

export const Nodes = () => (
  <Screen title="Nodes" hint="The processes that work on one database. Who falls silent is taken over by the others.">
    <Loaded options={nodes}>
      {(data) => (
        <>
          <Panel title="Workers" className="overflow-x-auto">
            {data.nodes.length === 0 ? (
              <p className="p-8 text-center text-sm text-ink-3">
                None. Start one with <code className="font-mono text-ink">npx waybill start --roles worker</code>.
              </p>
            ) : (
              <Table
                label="Workers"
                rows={data.nodes}
                keyOf={({ id }) => id}
                columns={[
                  { name: "Process", cell: ({ id }) => <code className="font-mono text-xs break-all">{id}</code> },
                  { name: "State", cell: ({ alive }) => <State state={alive ? "active" : "silent"} /> },
                  { name: "Under way", number: true, cell: ({ leases }) => leases },
                  { name: "Since", wide: true, cell: ({ started_at }) => exactly(started_at) },
                  { name: "Last seen", wide: true, cell: ({ beat_at }) => <Time iso={beat_at} /> },
                ]}
              />
            )}
          </Panel>
          <Panel title="Connections to Postgres" className="overflow-x-auto">
            <Table
              label="Connections"
              rows={data.connections}
              keyOf={({ application, state }) => `${application} ${state}`}
              columns={[
                { name: "Who", cell: ({ application }) => application },
                { name: "State", cell: ({ state }) => <span className="text-ink-2">{state}</span> },
                { name: "Connections", number: true, cell: ({ connections }) => connections },
              ]}
            />
          </Panel>
          <p className="text-sm text-ink-3">
            This node runs release {data.release}. The database takes {size(data.size_bytes)}.
          </p>
        </>
      )}
    </Loaded>
  </Screen>
)
