import { useQueries } from "@tanstack/react-query"
import { useState } from "react"
import type { ListedTemplateVersion, TemplateRecord } from "../../api/Records.ts"
import { SelectField } from "../../ui/controls/Field.tsx"
import * as Form from "../content/Form.ts"
import * as TemplateQueries from "../content/TemplateQueries.ts"
import { TextDifference } from "./TextDifference.tsx"
import { QueryResult } from "../../ui/layout/QueryResult.tsx"
import { Panel } from "../../ui/layout/Screen.tsx"

interface Props {
  readonly record: TemplateRecord
  readonly versions: ReadonlyArray<ListedTemplateVersion>
  /** Version whose changes are shown first. */
  readonly initial: number
}

/** Stands for the draft among the numbers of versions, and for nothing, which is before the first. */
const DRAFT = -1
const NOTHING = 0

/** Shows the differences between two versions, or a version and the draft. */
export const Comparison = ({ initial, record, versions }: Props) => {
  const [[from, to], setPair] = useState<readonly [number, number]>([initial - 1, initial])
  const [before, after] = useQueries({
    queries: [from, to].map((number) => ({
      ...TemplateQueries.version(record.id, number),
      enabled: number > NOTHING,
    })),
  })
  const formOf = (number: number, query: typeof before): Form.Form | undefined => {
    if (number === NOTHING) return {}
    if (number === DRAFT) return Form.ofSource(record.draft)
    return query?.data === undefined ? undefined : Form.ofSource(query.data)
  }
  const [old, next] = [formOf(from, before), formOf(to, after)]
  const query = {
    data: old === undefined || next === undefined ? undefined : { before: old, after: next },
    error: before?.error ?? after?.error ?? null,
    refetch: () => Promise.all([before?.refetch(), after?.refetch()]),
  }
  const options = [[DRAFT, "Draft"] as const, ...versions.map(({ number }) => [number, `Version ${number}`] as const)]
  return (
    <Panel title="Changes" className="overflow-hidden">
      <div className="flex flex-wrap gap-4 border-b border-line p-4">
        <SelectField
          label="From"
          className="w-40"
          value={from}
          onChange={(event) => setPair([Number(event.target.value), to])}
          options={[...options, [NOTHING, "Nothing"]]}
        />
        <SelectField
          label="To"
          className="w-40"
          value={to}
          onChange={(event) => setPair([from, Number(event.target.value)])}
          options={options}
        />
      </div>
      <QueryResult isInPanel query={query} rows={3}>
        {(shown) => <Differences {...shown} />}
      </QueryResult>
    </Panel>
  )
}

/** The texts that differ, each line by line. */
export const Differences = ({ after, before }: { readonly before: Form.Form; readonly after: Form.Form }) => {
  const names = Form.changes(before, after).filter((name) => (before[name] ?? "") !== (after[name] ?? ""))
  if (names.length === 0) return <p className="p-8 text-center text-sm text-ink-3">No difference.</p>
  return (
    <div className="flex flex-col gap-4 p-4">
      {names.map((name) => (
        <section key={name} className="flex flex-col gap-1.5">
          <h3 className="text-sm font-medium">{Form.labelOf(name)}</h3>
          <TextDifference
            label={Form.labelOf(name)}
            before={Form.normalized(name, before[name]) ?? ""}
            after={Form.normalized(name, after[name]) ?? ""}
          />
        </section>
      ))}
    </div>
  )
}
