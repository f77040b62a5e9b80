import { useQuery } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/groups/Operate"
import { useState } from "react"
import { SegmentedControl } from "../ui/controls/SegmentedControl.tsx"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"
import { QueryResult } from "../ui/layout/QueryResult.tsx"

const SHOWN = [
  ["set", "Set"],
  ["all", "All"],
] as const

/** The settings of the process that answers, as `waybill config` shows those of a shell. */
export const Settings = () => {
  const [shown, setShown] = useState<(typeof SHOWN)[number][0]>("set")
  return (
    <Screen
      title="Configuration"
      hint="Settings of the process that serves this page, as its environment had them when it started."
      actions={<SegmentedControl label="Settings" value={shown} options={SHOWN} onChange={setShown} />}
    >
      <QueryResult query={useQuery(OperatorQueries.settings)}>
        {({ data, groups }) => {
          const rows = data.filter(({ value }) => shown === "all" || value !== null)
          return (
            <>
              {groups.map(([title, names]) => {
                const settings = rows.filter(({ name }) => names.includes(name))
                return settings.length === 0 ? undefined : (
                  <Panel key={title} title={title}>
                    <ul className="divide-y divide-line">
                      {settings.map((setting) => (
                        <Setting key={setting.name} {...setting} />
                      ))}
                    </ul>
                  </Panel>
                )
              })}
              {rows.length === data.length ? undefined : (
                <p className="text-sm text-ink-3">{data.length - rows.length} settings have their defaults.</p>
              )}
            </>
          )
        }}
      </QueryResult>
    </Screen>
  )
}

const Setting = ({ default: fallback, meaning, name, value }: Operate.Settings["data"][number]) => (
  <li className="grid gap-x-6 gap-y-1 px-4 py-3 text-sm sm:grid-cols-2">
    <div className="min-w-0">
      <code className="font-mono text-xs font-medium [overflow-wrap:anywhere]">{name}</code>
      <p className="mt-0.5 text-xs text-ink-3">{meaning}</p>
    </div>
    <div className="min-w-0">
      {value === null ? undefined : <code className="font-mono text-xs [overflow-wrap:anywhere]">{value}</code>}
      <p className="text-xs text-ink-3">{fallback === null ? "Unset by default" : `Default: ${fallback}`}</p>
    </div>
  </li>
)
