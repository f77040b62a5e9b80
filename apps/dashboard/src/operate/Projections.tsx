import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type * as Operate from "@waybill/api/groups/Operate"
import { useState } from "react"
import * as Api from "../api/Api.ts"
import { StatusBadge } from "../ui/display/Badge.tsx"
import { Button } from "../ui/controls/Button.tsx"
import { cx } from "../ui/display/cx.ts"
import { ConfirmDialog } from "../ui/feedback/ConfirmDialog.tsx"
import { formatBytes } from "../ui/display/formatBytes.ts"
import { Panel, Screen } from "../ui/layout/Screen.tsx"
import { showError, showToast } from "../ui/feedback/Toasts.tsx"
import { QueryResult } from "../ui/layout/QueryResult.tsx"
import * as OperatorQueries from "./OperatorQueries.ts"

const number = new Intl.NumberFormat()

export const Projections = () => (
  <Screen title="Projections" hint="Read models are built from the event log. Verify or rebuild them here.">
    <QueryResult query={useQuery(OperatorQueries.projections)}>
      {({ jobs, under_way, versions }) => {
        const names = [...new Set(versions.map(({ name }) => name))]
        return (
          <Panel>
            <div
              aria-hidden
              className="hidden h-9 items-center gap-x-3 border-b border-line px-4 text-xs font-medium text-ink-3 sm:flex"
            >
              <span className="basis-44">Projection</span>
              <span className="grow">Version and size</span>
            </div>
            <ul className="divide-y divide-line">
              {names.map((name) => (
                <ProjectionRow
                  key={name}
                  name={name}
                  versions={versions.filter((each) => each.name === name)}
                  job={jobs.find((each) => each.name === name)}
                  remoteJob={under_way.find((each) => each.name === name)}
                />
              ))}
            </ul>
          </Panel>
        )
      }}
    </QueryResult>
  </Screen>
)

interface Props {
  readonly name: string
  readonly versions: ReadonlyArray<Operate.ProjectionVersion>
  readonly job: Operate.ProjectionJob | undefined
  readonly remoteJob: Operate.ProjectionUnderWay | undefined
}

const ProjectionRow = ({ job, name, remoteJob, versions }: Props) => {
  const client = useQueryClient()
  const [swapping, setSwapping] = useState(false)
  const refresh = () => client.invalidateQueries({ queryKey: OperatorQueries.projections.queryKey })
  const start = useMutation({
    mutationFn: (kind: Operate.ProjectionJob["kind"]) => Api.post(`/operate/projections/${name}/${kind}`),
    onSettled: refresh,
    onError: showError,
  })
  const startedHere = job !== undefined && job.ended === null
  const isBusy = startedHere || remoteJob?.working === true
  const isFollowing = versions.some(({ state }) => state === "following")
  const isReady = versions.some(({ state }) => state === "ready")
  return (
    <li>
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-2 px-4 py-1.5">
        <h2 className="basis-full font-mono text-sm font-medium sm:basis-44">{name}</h2>
        <ul className="flex min-w-0 grow flex-col gap-1.5">
          {versions.map((version) => (
            <Version key={`${version.cell ?? ""} ${version.version}`} version={version} />
          ))}
        </ul>
        {isFollowing ? <span className="text-xs text-ink-3">Updated continuously</span> : undefined}
        <div className="-mr-2.5 flex gap-1">
          {isReady ? (
            <Button small variant="primary" disabled={isBusy} onClick={() => setSwapping(true)}>
              Activate
            </Button>
          ) : undefined}
          <Button small variant="ghost" disabled={isBusy} onClick={() => start.mutate("verify")}>
            Verify
          </Button>
          <Button small variant="ghost" disabled={isBusy} onClick={() => start.mutate("rebuild")}>
            Rebuild
          </Button>
        </div>
      </div>
      {startedHere || remoteJob === undefined ? undefined : <RemoteJob remoteJob={remoteJob} />}
      {job === undefined || (job.ended?.good === true && remoteJob !== undefined) ? undefined : <Job job={job} />}
      <ConfirmDialog
        open={swapping}
        onClose={() => setSwapping(false)}
        title={`Activate the new version of ${name}?`}
        isDestructive={false}
        action="Activate"
        onConfirm={async () => {
          await Api.post(`/operate/projections/${name}/swap`, { back: false })
          await refresh()
          showToast(`The new version of ${name} is live.`, () => {
            Api.post(`/operate/projections/${name}/swap`, { back: true }).then(refresh, showError)
          })
        }}
      >
        The new version becomes live in one short transaction. The current version is retained, so you can undo this.
      </ConfirmDialog>
    </li>
  )
}

const Version = ({ version }: { readonly version: Operate.ProjectionVersion }) => {
  const { behind, cell, rows, size_bytes, state, version: versionNumber } = version
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <StatusBadge status={state} />
      <span className="text-ink-2">
        {cell === undefined ? "" : `${cell}: `}Version {versionNumber}
      </span>
      <span className="tabular text-xs text-ink-3">
        {formatBytes(size_bytes)}
        {rows === 0 ? "" : ` · about ${rows === 1 ? "1 row" : `${number.format(rows)} rows`}`}
        {behind === 0 ? "" : ` · ${number.format(behind)} events behind`}
      </span>
    </li>
  )
}

const KINDS = { rebuild: "Rebuild", verify: "Verification" } as const

/** Labels for the phases of a rebuild; the API also reports phases in words. */
const PHASES: Record<string, string> = {
  starting: "Starting",
  folding: "Reading events",
  indexing: "Building indexes",
  comparing: "Comparing",
}

interface ProgressProps {
  readonly title: string
  readonly state: string
  readonly className: string
  /** How many of the events were read; undefined where that is over, or not known. */
  readonly events: { readonly done: number; readonly total: number; readonly more: string } | undefined
  /** Accessible name and phase of the bar. */
  readonly label: string
  readonly phase: string
}

const Progress = ({ className, events, label, phase, state, title }: ProgressProps) => {
  const share =
    events === undefined || phase !== "folding" || events.total === 0 ? 1 : Math.min(1, events.done / events.total)
  return (
    <div className="px-4 pb-3">
      <p role="status" className="flex flex-wrap items-baseline gap-x-3 text-sm">
        <span className="font-medium">{title}</span>
        <span className={cx("min-w-0 break-words", className)}>{state}</span>
        {events === undefined ? undefined : (
          <span className="tabular ml-auto text-xs text-ink-3">
            {number.format(events.done)} of {number.format(events.total)} events{events.more}
          </span>
        )}
      </p>
      {events === undefined ? undefined : (
        <div
          role="progressbar"
          aria-label={label}
          aria-valuenow={Math.round(share * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="mt-2 h-1.5 overflow-hidden rounded-full bg-hover"
        >
          <div className="h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  )
}

/** Progress of a rebuild or verification that was started on another node or from the command line. */
const RemoteJob = ({ remoteJob }: { readonly remoteJob: Operate.ProjectionUnderWay }) => {
  const { events, name, phase, slices_done, total, version, working } = remoteJob
  const more = ` · ${number.format(slices_done)} ${slices_done === 1 ? "slice" : "slices"} done`
  return (
    <Progress
      title={version === null ? "Running on another node" : `Version ${version}`}
      state={working ? (PHASES[phase] ?? phase) : "Interrupted. Rebuild to continue from here."}
      className={working ? "text-ink-2" : "text-warn"}
      events={version === null ? undefined : { done: events, total, more }}
      label={`Version ${version ?? ""} of ${name}`}
      phase={phase}
    />
  )
}

const Job = ({ job }: { readonly job: Operate.ProjectionJob }) => {
  const { ended, eta_seconds, events, kind, name, phase, total } = job
  const more = eta_seconds === null ? "" : ` · ${eta_seconds} s left`
  return (
    <Progress
      title={KINDS[kind]}
      state={ended === null ? (PHASES[phase] ?? phase) : ended.said}
      className={ended === null ? "text-ink-2" : ended.good ? "text-good" : "text-bad"}
      events={ended === null ? { done: events, total, more } : undefined}
      label={`${KINDS[kind]} of ${name}`}
      phase={phase}
    />
  )
}
